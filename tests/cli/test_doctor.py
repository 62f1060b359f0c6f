"""`llamavisor doctor`: what is here, and what is to be mended."""

import json
import unittest
from pathlib import Path

from support import TOOL, ProgramTest, write_pack

QUARANTINED = {"device": "rocm:0", "engine": "hip", "build": 7000, "cause": "device_lost",
               "message": "the device was lost", "time": "2026-12-01T00:00:00Z"}


class Doctor(ProgramTest):
    def setUp(self):
        super().setUp()
        self.packs = self.folder / "packs"
        self.packs.mkdir()
        self.environment.update(LLAMAVISOR_ENGINE_PATH=str(self.packs), XDG_DATA_HOME=str(self.folder / "data"))

    def doctor(self, *words):
        return self.run_program([TOOL, "doctor", *words])

    def test_devices_engines_and_auto_are_told(self):
        write_pack(self.packs / "mine")
        found = self.run_json([TOOL, "doctor", "--json"])
        self.assertEqual([engine["build"] for engine in found["engines"]], [7000])
        self.assertEqual(found["kernel"], Path("/proc/sys/kernel/osrelease").read_text().strip())
        devices = self.run_json([TOOL, "devices", "--json"])
        self.assertEqual({key: found[key] for key in devices}, devices)
        text = self.doctor().stdout.decode()
        self.assertIn(f"auto is {devices['auto']}: {devices['why']}", text)
        self.assertIn(str(self.packs / "mine"), text)

    def test_what_is_missing_or_broken_comes_with_what_mends_it(self):
        text = self.doctor().stdout.decode()
        self.assertIn("* no CPU engine", text)
        self.assertIn("tools/get-engine cpu", text)
        pack = write_pack(self.packs / "mine")
        (pack / "llama-server").unlink()
        self.environment["LLAMAVISOR_ENGINE_PATH"] = str(pack)
        result = self.doctor()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"* the engine pack {pack} cannot be used", result.stdout.decode())

    def test_a_quarantine_is_shown_and_cleared(self):
        write_pack(self.packs / "mine")
        state = self.folder / "state/llamavisor"
        state.mkdir(parents=True)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        (state / "quarantine.json").write_text(json.dumps({"entries": [{**QUARANTINED, "boot_id": boot}]}))
        self.assertEqual(self.run_json([TOOL, "doctor", "--json"])["quarantine"], [QUARANTINED])
        self.assertIn("rocm:0 with the hip engine (build 7000), since 2026-12-01T00:00:00Z: the device was lost",
                      self.doctor().stdout.decode())
        self.assertNotIn("rocm:0", self.doctor("--clear").stdout.decode())
        self.assertEqual(self.run_json([TOOL, "doctor", "--json"])["quarantine"], [])


if __name__ == "__main__":
    unittest.main()
