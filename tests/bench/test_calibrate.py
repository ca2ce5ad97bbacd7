"""What bench/calibrate prints: its form, and that it knows every number. What the numbers are depends on the machine."""
import glob
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = glob.glob(os.path.join(ROOT, 'src/**/calibration.hpp'), recursive=True)
NUMBER = r'-?[\d.]+(?:e[+-]\d+)?'
MEASURED = re.compile(r'(\w+) +(%s) +(%s) +(%s)(?: !)?' % (NUMBER, NUMBER, NUMBER))
UNMEASURED = re.compile(r'(\w+) +(\S.*?) +- +- (src/\S+)')


def calibrate(*flags):
    command = [sys.executable, os.path.join(ROOT, 'bench/calibrate'), '--gpulog', os.environ['GPULOG'], '--scale', '0.001',
               '--runs', '1', '--jobs', '2', *flags]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


class Calibrate(unittest.TestCase):
    def check_measured(self, lines):
        self.assertRegex(lines[0], r'^name +stated +measured +ratio$')
        matches = [MEASURED.fullmatch(line) for line in lines[1:]]
        self.assertNotIn(None, matches, lines)
        return [match[1] for match in matches]

    def test_prints_rates_of_the_processors(self):
        names = self.check_measured(calibrate())
        self.assertIn('host_candidates_per_second', names)
        self.assertTrue(all(name.startswith('host_') for name in names), names)

    @unittest.skipUnless(os.environ.get('GPULOG_HAS_DEVICE'), 'built without a device')
    def test_prints_rates_of_a_device(self):
        self.assertIn('device_candidates_per_second', self.check_measured(calibrate('--backend', 'gpu')))

    def test_prints_every_number_of_the_calibrations_once(self):
        lines = calibrate('--all')
        names = [(MEASURED.fullmatch(line) or UNMEASURED.fullmatch(line))[1] for line in lines[1:]]
        declared = []
        for path in FILES:
            with open(path, encoding='utf-8') as file:
                declared += re.findall(r'^inline constexpr \S+ (\w+) =', file.read(), re.MULTILINE)
        self.assertEqual(sorted(names), sorted(declared))


if __name__ == '__main__':
    unittest.main()
