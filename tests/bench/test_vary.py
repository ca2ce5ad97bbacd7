"""That bench/vary changes the one number that it is asked for. What it builds and times is not looked at."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOADER = importlib.machinery.SourceFileLoader('vary', os.path.join(ROOT, 'bench/vary'))
vary = importlib.util.module_from_spec(importlib.util.spec_from_loader('vary', LOADER))
LOADER.exec_module(vary)


class Vary(unittest.TestCase):
    def test_changes_one_line_for_each_number(self):
        for path in vary.FILES:
            with open(os.path.join(ROOT, path), encoding='utf-8') as file:
                text = file.read()
            for name in re.findall(r'^inline constexpr \S+ (\w+) =', text, re.MULTILINE):
                found, value = vary.place(name)
                self.assertEqual(found, path)
                changed = vary.with_value(text, name, '1u << 7')
                other = [(old, new) for old, new in zip(text.splitlines(), changed.splitlines()) if old != new]
                self.assertEqual(len(other), 1, name)
                self.assertRegex(other[0][1], r'^inline constexpr \S+ %s = 1u << 7;' % name)
                self.assertEqual(vary.with_value(changed, name, value), text)

    def test_refuses_an_unknown_number(self):
        with self.assertRaises(SystemExit) as refused, contextlib.redirect_stderr(io.StringIO()):
            vary.place('no_such_number')
        self.assertIn('no_such_number', str(refused.exception))

    def test_copies_sources_with_the_value_and_keeps_the_time_of_equal_files(self):
        with tempfile.TemporaryDirectory() as folder:
            name, path = 'merge_factor', 'src/storage/calibration.hpp'
            vary.copy_sources(folder, path, name, '5')
            with open(os.path.join(folder, path), encoding='utf-8') as file:
                self.assertIn('merge_factor = 5;', file.read())
            other = os.path.join(folder, 'src/exec/calibration.hpp')
            os.utime(other, (1, 1))
            vary.copy_sources(folder, path, name, '6')
            self.assertEqual(os.stat(other).st_mtime, 1)


if __name__ == '__main__':
    unittest.main()
