import gzip
import io
import os
import random
import stat
import struct
import tarfile
import unittest
import zipfile
from unittest import mock

from support import FolderTest

from llamavisor_tools import archive_tree, unpack
from llamavisor_tools.archive_tree import ArchiveTree
from llamavisor_tools.errors import BadArchive, EngineError


def member(name, kind=tarfile.REGTYPE, link="", content=b"x", **more):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = len(content) if kind == tarfile.REGTYPE else 0
    for key, value in more.items():
        setattr(info, key, value)
    return info, content if kind == tarfile.REGTYPE else b""


def tar(*members):
    """Bytes of a tar file; a header may say anything."""
    out = io.BytesIO()
    for info, content in members:
        out.write(info.tobuf(tarfile.GNU_FORMAT))
        out.write(content + bytes(-len(content) % 512))
    return out.getvalue() + bytes(1024)


def zip_member(name, content=b"x", mode=stat.S_IFREG | 0o644, **more):
    info = zipfile.ZipInfo("x")
    info.filename, info.create_system, info.external_attr = name, 3, mode << 16
    for key, value in more.items():
        setattr(info, key, value)
    return info, content


def zipped(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for info, content in members:
            file.writestr(info, content)
    return out.getvalue()


class Unpack(FolderTest):
    def unpack(self, content, compress=True):
        root = self.folder / f"root{len(list(self.folder.iterdir()))}"
        root.mkdir()
        path = self.folder / f"{root.name}.archive"
        path.write_bytes(gzip.compress(content, 1) if compress else content)
        with open(path, "rb", buffering=0) as file:
            return unpack.unpack(file, root)

    def refused(self, content, text, compress=True):
        with self.assertRaisesRegex(BadArchive, f"^bad archive: .*{text}"):
            self.unpack(content, compress)
        self.assertFalse([path for path in self.folder.rglob("*") if path.is_symlink() or path.name == "escaped"])

    # ---- what is let in

    def test_files_and_links_between_them_are_found_by_all_their_names(self):
        tree = self.unpack(tar(
            member("top/", tarfile.DIRTYPE), member("top/lib.so.1.2", content=b"lib"),
            member("top/lib.so", tarfile.SYMTYPE, "lib.so.1"), member("top/lib.so.1", tarfile.SYMTYPE, "./lib.so.1.2"),
            member("top/hard", tarfile.LNKTYPE, "top/lib.so.1.2"), member("./dir/deep/data", content=b"data"),
            member("dir/alias", tarfile.SYMTYPE, "../dir/deep"), member("lost", tarfile.SYMTYPE, "top/nothing")))
        self.assertEqual(tree.names(), ["dir/deep/data", "top/hard", "top/lib.so", "top/lib.so.1", "top/lib.so.1.2"])
        for name in ["top/hard", "top/lib.so"]:
            self.assertEqual(tree.file(name).read_bytes(), b"lib")
        self.assertEqual(tree.file("dir/alias/data").read_bytes(), b"data")
        self.assertIsNone(tree.file("lost"))
        self.assertEqual(tree.folder_links_below("dir"), {"alias": "deep"})
        self.assertFalse([path for path in self.folder.rglob("*") if path.is_symlink()])

    def test_long_names_come_whole_in_both_of_tars_ways(self):
        name = "/".join(["a" * 90] * 4)
        for way in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w", format=way) as file:
                info, content = member(name)
                file.addfile(info, io.BytesIO(content))
            self.assertEqual(self.unpack(out.getvalue()).names(), [name])

    def test_a_zip_archives_links_are_links(self):
        link = zip_member("a/lib.so", b"lib.so.1", stat.S_IFLNK | 0o777)
        tree = self.unpack(zipped(zip_member("a/lib.so.1", b"lib"), link, zip_member("a/none", b"", 0)), compress=False)
        self.assertEqual(tree.file("a/lib.so").read_bytes(), b"lib")
        self.assertEqual(tree.names(), ["a/lib.so", "a/lib.so.1", "a/none"])

    def test_no_file_is_more_than_readable_whatever_the_archive_says(self):
        tree = self.unpack(tar(member("a", mode=0o6777)))
        self.assertEqual(tree.file("a").stat().st_mode & 0o7133, 0)

    # ---- what is not

    def test_a_name_that_leads_out_is_refused(self):
        for name in ["/escaped", "../escaped", "a/../../escaped", "a/..", "..", "a\\..\\escaped", "a\nb", "x" * 300]:
            self.refused(tar(member(name)), "would be written elsewhere")
            self.refused(tar(member(name, tarfile.DIRTYPE)), "would be written elsewhere")
            self.refused(zipped(zip_member(name)), "would be written elsewhere", compress=False)

    def test_a_link_that_leads_out_is_refused(self):
        for links in [[("l", "/etc/passwd")], [("l", "../escaped")], [("a/l", "../../x")], [("l", "a/../../x")],
                      [("a/b/up", ".."), ("l", "a/b/up/../../x")], [("l", "")]]:
            members = [member("a/b/file"), *(member(name, tarfile.SYMTYPE, to) for name, to in links)]
            self.refused(tar(*members), "leads out of it")
        for to in ["/etc/passwd", "../escaped"]:
            self.refused(tar(member("l", tarfile.LNKTYPE, to)), "leads out of it")
            self.refused(zipped(zip_member("l", to.encode(), stat.S_IFLNK)), "leads out of it", compress=False)

    def test_links_in_circles_are_refused(self):
        self.refused(tar(member("a", tarfile.SYMTYPE, "b"), member("b", tarfile.SYMTYPE, "a")), "leads in circles")
        self.refused(tar(member("a", tarfile.SYMTYPE, "a/a")), "leads in circles")
        self.refused(tar(member("a", tarfile.LNKTYPE, "a")), "leads in circles")

    def test_nothing_is_written_through_a_link_or_over_a_file(self):
        link = member("l", tarfile.SYMTYPE, ".")
        for members in [[link, member("l/inner")], [member("l/inner"), link], [link, member("l")],
                        [member("a"), member("a")], [member("a"), member("a/inner")], [member("a/b"), member("a")],
                        [member("a"), member("./a", tarfile.LNKTYPE, "b")]]:
            self.refused(tar(*members), "is there twice")

    def test_devices_pipes_and_sparse_files_are_refused(self):
        for kind in (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"):
            self.refused(tar(member("a", kind)), "neither a file nor")
        self.refused(zipped(zip_member("a", b"", stat.S_IFIFO)), "neither a file nor", compress=False)
        sparse = bytearray(tar(member("a", tarfile.GNUTYPE_SPARSE)))
        self.refused(bytes(sparse), "(neither a file nor|damaged)")

    def test_far_more_than_the_archives_size_allows_is_refused_before_it_is_written(self):
        with mock.patch.object(archive_tree, "most_bytes", lambda size: 1 << 20), \
                mock.patch.object(unpack, "most_bytes", lambda size: 1 << 20):
            self.refused(tar(member("a", content=bytes(2 << 20))), "far more than its size allows")
            self.refused(tar(*(member(f"a{number}", content=bytes(300 << 10)) for number in range(4))), "far more")
            self.refused(zipped(zip_member("a", bytes(2 << 20))), "far more", compress=False)
        self.assertLess(sum(path.stat().st_size for path in self.folder.rglob("a*")), 1 << 20)

    def test_a_small_archive_may_grow_forty_times_and_a_little(self):
        self.assertEqual(archive_tree.most_bytes(0), 64 << 20)
        self.assertEqual(archive_tree.most_bytes(10 << 20), 464 << 20)
        self.assertEqual(archive_tree.most_bytes(1 << 50), 16 << 30)

    def test_a_bomb_of_zeros_is_refused_at_its_header(self):
        bomb = member("bomb", content=b"", size=8 << 30)
        self.refused(tar(bomb), "far more than its size allows")

    def test_endless_members_are_refused(self):
        with mock.patch.object(archive_tree, "MOST_MEMBERS", 10):
            for kind in (tarfile.DIRTYPE, tarfile.REGTYPE):
                self.refused(tar(*(member(f"a{number}", kind) for number in range(11))), "more than 10 members")
            self.unpack(tar(*(member(f"a{number}") for number in range(10))))

    def test_endless_headers_are_refused(self):
        with mock.patch.object(unpack, "TAR_OVERHEAD", 0), mock.patch.object(unpack, "most_bytes", lambda size: 4096):
            self.refused(tar(*(member(f"a{number}", tarfile.DIRTYPE) for number in range(20))), "far more")

    def test_a_header_of_gigabytes_is_not_read_into_memory(self):
        for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            self.refused(tar(member("a", kind, content=b"", size=1 << 32)), "no sensible length")

    def test_a_member_that_leads_backwards_is_refused(self):
        info, _ = member("a", size=-1024)
        self.refused(tar((info, b"")), "(far more|no sensible|damaged)")

    def test_headers_upon_headers_are_refused(self):
        one = member("p", tarfile.XHDTYPE)[0].tobuf(tarfile.GNU_FORMAT)
        self.refused(one * 3000 + tar(member("a")), "(damaged|cut short)")

    def test_a_garbled_header_is_no_end_of_the_archive(self):
        whole = tar(member("a"), member("b"))
        self.refused(whole[:1024] + b"garbage!" * 64 + whole[1536:], "cut short or garbled")

    def test_an_archive_without_its_end_is_cut_short(self):
        whole = tar(member("a"), member("b"))
        for size in (512, 1024, 1536, 1600, 2048):
            self.refused(whole[:size], "cut short")

    def test_a_wrong_checksum_is_damage(self):
        packed = bytearray(gzip.compress(tar(member("a"))))
        packed[-8] ^= 1
        self.refused(bytes(packed), "damaged", compress=False)
        packed = bytearray(zipped(zip_member("a", os.urandom(1000), compress_type=zipfile.ZIP_STORED)))
        packed[100] ^= 1
        self.refused(bytes(packed), "damaged", compress=False)

    def test_encrypted_and_rare_zip_members_are_refused(self):
        packed = bytearray(zipped(zip_member("a")))
        packed[packed.index(b"PK\1\2") + 8] |= 1
        self.refused(bytes(packed), "encrypted or packed in a rare way", compress=False)
        self.refused(zipped(zip_member("a", compress_type=zipfile.ZIP_LZMA)), "encrypted or packed", compress=False)

    def test_a_zip_directory_of_gigabytes_is_not_read_into_memory(self):
        whole = zipped(zip_member("a", bytes(range(256)) * (24 << 10), compress_type=zipfile.ZIP_STORED))
        end = whole.rindex(b"PK\5\6")
        liar = whole[:end + 12] + struct.pack("<II", 5 << 20, 0) + whole[end + 20:]
        self.refused(liar, "its directory has no sensible length", compress=False)

    def test_no_garbling_gets_anything_out_of_its_folder(self):
        chance = random.Random(4)
        names = ["a/b", "l", "a/../x", "../escaped"]
        sound = [tar(member("a/b", content=b"y" * 700), member("a/l", tarfile.SYMTYPE, "b"),
                     member("a/h", tarfile.LNKTYPE, "a/b"), member("d/", tarfile.DIRTYPE)),
                 zipped(zip_member("a/b", b"y" * 700), zip_member("a/l", b"b", stat.S_IFLNK | 0o777))]
        kept = 0
        for round_ in range(int(os.environ.get("LLAMAVISOR_LONG", "0")) * 20_000 + 1500):
            content = bytearray(sound[round_ % 2])
            for _ in range(chance.choice([1, 1, 2, 8])):
                place = chance.randrange(len(content))
                if chance.random() < 0.2:
                    text = chance.choice(names).encode()
                    content[place:place + len(text)] = text
                else:
                    content[place] = chance.choice([0, 255, 0x2f, 0x2e, chance.randrange(256)])
            if chance.random() < 0.1:
                del content[chance.randrange(len(content)):]
            root = self.folder / "root"
            root.mkdir()
            path = self.folder / "archive"
            path.write_bytes(content if round_ % 2 else gzip.compress(bytes(content), 1))
            with open(path, "rb", buffering=0) as file:
                try:
                    unpack.unpack(file, root)
                    kept += 1
                except EngineError:
                    pass
            self.assertEqual(sorted(entry.name for entry in self.folder.iterdir()), ["archive", "root"])
            for entry in sorted(root.rglob("*"), reverse=True):
                self.assertFalse(entry.is_symlink())
                entry.rmdir() if entry.is_dir() else entry.unlink()
            root.rmdir()
        self.assertGreater(kept, 50)  # some garbling does no harm


class Names(FolderTest):
    def test_what_is_asked_of_a_tree_never_leaves_it(self):
        tree = ArchiveTree(self.folder, 1 << 20)
        tree.add_file("a/b", 1, lambda count: b"x")
        self.assertEqual(tree.resolve("a/./../a/b"), "a/b")
        with self.assertRaises(BadArchive):
            tree.resolve("a/../../b")


if __name__ == "__main__":
    unittest.main()
