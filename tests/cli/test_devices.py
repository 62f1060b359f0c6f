"""`llamavisor devices` on machines that are folders: tests/fixtures/machines."""

import json
import os
import unittest
from pathlib import Path

from support import HERE, TOOL, ProgramTest, write_pack

MACHINES = HERE.parent / "fixtures/machines"


def machines():
    files = [MACHINES / "amd.json", MACHINES / "more.json"]
    files += filter(None, [os.environ.get("LLAMAVISOR_SYSFS_CASES")])  # of the same form
    return [machine for file in files for machine in json.loads(Path(file).read_text(encoding="utf-8"))]


class Devices(ProgramTest):
    def devices(self, machine, number):
        root = self.folder / f"machine {number}"
        for name, text in machine["files"].items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.environment = dict(machine.get("env", {}))  # nothing else
        return self.run_program([TOOL, "devices", "--root", str(root), "--json", "--assume-engines", "hip"])

    def test_each_machine_has_the_devices_that_it_should(self):
        for number, machine in enumerate(machines()):
            if machine.get("error"):
                continue
            with self.subTest(machine["name"]):
                result = self.devices(machine, number)
                self.assertEqual(result.returncode, 0, result.stderr)
                found = json.loads(result.stdout)
                wanted = machine["devices"]
                known = [{key: device[key] for key in want} for device, want in zip(found["devices"], wanted)]
                self.assertEqual(known, wanted)
                self.assertEqual(len(found["devices"]), len(wanted))
                self.assertEqual(found["auto"], machine["auto"])
                for device in found["devices"]:
                    self.assertEqual(device["usable"], device["reason"] is None, device)

    def test_a_malformed_override_is_an_error_that_names_the_variable(self):
        wrong = [machine for machine in machines() if machine.get("error")]
        self.assertGreaterEqual(len(wrong), 3)
        for number, machine in enumerate(wrong):
            with self.subTest(machine["name"]):
                result = self.devices(machine, number)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                for variable in machine["env"]:
                    self.assertIn(variable.encode(), result.stderr)

    def test_an_engine_without_code_for_a_card_cannot_drive_it_unless_an_override_makes_it(self):
        machine = next(machine for machine in machines() if machine["name"] == "one RX 9070")
        self.devices(machine, 0)
        pack = write_pack(self.folder / "hip", flavour="hip", gfx_targets=["gfx1100", "gfx1200"])
        run = [TOOL, "devices", "--root", str(self.folder / "machine 0"), "--json"]
        self.environment = {"LLAMAVISOR_ENGINE_PATH": str(pack), "HOME": str(self.folder)}
        device = self.run_json(run)["devices"][0]
        self.assertEqual((device["usable"], device["engines"]), (False, []))
        self.assertIn("no code for gfx1201, only for gfx1100, gfx1200", device["reason"])
        self.environment["HSA_OVERRIDE_GFX_VERSION"] = "12.0.0"
        found = self.run_json(run)
        self.assertEqual((found["auto"], found["devices"][0]["engines"]), ("rocm:0", ["hip"]))

    def test_without_an_engine_the_command_to_get_one_is_named(self):
        machine = next(machine for machine in machines() if machine["name"] == "one RX 9070")
        self.devices(machine, 0)
        self.environment = {"HOME": str(self.folder)}
        found = self.run_json([TOOL, "devices", "--root", str(self.folder / "machine 0"), "--json"])
        self.assertEqual((found["auto"], found["devices"][0]["usable"]), ("cpu", False))
        self.assertIn("tools/get-engine hip", found["devices"][0]["reason"])

    def test_a_table_says_what_auto_is_and_what_stands_in_the_way(self):
        machine = next(machine for machine in machines() if machine["name"].startswith("NVIDIA and AMD"))
        self.devices(machine, 0)
        lines = self.run_program([TOOL, "devices", "--root", str(self.folder / "machine 0"), "--assume-engines",
                                  "hip"]).stdout.decode().splitlines()
        self.assertEqual(lines[0].split()[:2], ["DEVICE", "MODEL"])
        self.assertIn("get-engine cuda", lines[1])
        self.assertTrue(lines[2].startswith("rocm:0"), lines)
        self.assertTrue(lines[-1].startswith("auto: rocm:0 ("), lines)


if __name__ == "__main__":
    unittest.main()
