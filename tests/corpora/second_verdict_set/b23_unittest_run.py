"""A test module that is run by itself: temporary folders, a patched clock, a skipped and an expected failure."""
import io
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock


def age(path):
    return time.time() - path.stat().st_mtime


class AgeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = Path(self.folder.name, "f.txt")
        self.file.write_text("x")

    def test_new_file_is_young(self):
        self.assertLess(age(self.file), 60)

    def test_clock_patched(self):
        with mock.patch("time.time", return_value=0.0):
            self.assertLess(age(self.file), 0)
        self.assertGreater(time.time(), 1e9)

    def test_print(self):
        with mock.patch("sys.stdout", new_callable=io.StringIO) as out:
            print("hidden")
        self.assertEqual(out.getvalue(), "hidden\n")

    @unittest.skip("needs a printer")
    def test_skip(self):
        self.fail()

    @unittest.expectedFailure
    def test_known_bug(self):
        self.assertEqual(0.1 + 0.2, 0.3)

    def test_sub(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(n * 2 // 2, n)


if __name__ == "__main__":
    unittest.main(verbosity=2)
