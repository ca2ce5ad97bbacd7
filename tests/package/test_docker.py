#!/usr/bin/env python3
"""What the Dockerfiles name exists: files, scripts, options of CMake, its presets, the parts of the package. To build them takes
Docker, which tests do not have.
"""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = ('Dockerfile', 'Dockerfile.cuda')
INSTRUCTIONS = {'FROM', 'ARG', 'ENV', 'WORKDIR', 'COPY', 'ADD', 'RUN', 'USER', 'ENTRYPOINT'}


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def instructions_of(text):
    """Pairs of an instruction and what it is given, with lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith('#')]
    joined = '\n'.join(lines).replace('\\\n', ' ')
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines()]


class Dockerfiles(unittest.TestCase):
    def each(self, *wanted):
        for name in FILES:
            for instruction, given in instructions_of(read(name)):
                if not wanted or instruction in wanted:
                    with self.subTest(file=name, instruction=instruction, given=given):
                        yield instruction, given

    def test_instructions_are_known(self):
        for instruction, given in self.each():
            self.assertIn(instruction, INSTRUCTIONS)
            self.assertTrue(given)

    def test_all_dockerfiles_are_tested(self):
        self.assertEqual({os.path.basename(path) for path in glob.glob(os.path.join(ROOT, 'Dockerfile*'))}, set(FILES))

    def test_copied_files_exist(self):
        for _, given in self.each('COPY'):
            if '--from=build' not in given:
                for name in given.split()[:-1]:
                    self.assertTrue(os.path.exists(os.path.join(ROOT, name)), name)

    def test_what_is_copied_between_stages_is_made(self):
        for name in FILES:
            stages = [given for instruction, given in instructions_of(read(name)) if instruction == 'FROM']
            self.assertEqual(len([stage for stage in stages if stage.endswith(' AS build')]), 1, name)
            self.assertIn('COPY --from=build /gpulog/build/package/gpulog_*.deb', read(name))

    def test_image_runs_as_a_user(self):
        for name in FILES:
            last_stage = read(name).split('\nFROM ')[-1]
            user = re.search(r'^USER (\w+)$', last_stage, re.M)
            self.assertIsNotNone(user, name)
            self.assertRegex(last_stage, r'useradd .*\b%s\b' % user.group(1))

    def test_documents_are_copied_after_the_build(self):
        for name in FILES:
            before = read(name).split('cmake --build')[0]
            copied = {path for line in re.findall(r'^COPY (?!--from)(.*)$', before, re.M) for path in line.split()[:-1]}
            self.assertFalse(copied & {'.', 'docs', 'tests', 'examples', 'README.md', 'CHANGELOG.md'}, name)

    def test_commands_are_documented(self):
        pages = read('docs/building.md')
        for name in FILES:
            commands = re.findall(r'^#   (docker .*)$', read(name), re.M)
            self.assertEqual(len(commands), 3, name)
            for command in commands:
                self.assertIn(command, pages)

    def test_commands_are_right_in_form(self):
        for _, given in self.each('RUN'):
            process = subprocess.run(['sh', '-n', '-c', given], capture_output=True, text=True, check=False)
            self.assertEqual(process.returncode, 0, process.stderr)

    def test_scripts_exist(self):
        for _, given in self.each('RUN'):
            for script in re.findall(r'scripts/\w+', given):
                self.assertTrue(os.path.isfile(os.path.join(ROOT, script)), script)
            known = set(re.findall(r'^(\w+)=\(', read('scripts/packages'), re.M))
            self.assertLessEqual(set(re.findall(r'\$\{(\w+_packages)\[@\]\}', given)), known)

    def test_presets_options_and_components_exist(self):
        presets = {preset['name'] for preset in json.loads(read('CMakePresets.json'))['configurePresets']}
        cmake = '\n'.join(read(os.path.relpath(path, ROOT)) for path in
                          [os.path.join(ROOT, 'CMakeLists.txt'), *glob.glob(os.path.join(ROOT, 'cmake', '*.cmake'))])
        options = set(re.findall(r'(?:set|option)\((GPULOG_\w+)', cmake))
        for _, given in self.each('RUN'):
            self.assertLessEqual(set(re.findall(r'--preset (\S+)', given)), presets)
            self.assertLessEqual(set(re.findall(r'-D(GPULOG_\w+)', given)), options)
            for component in re.findall(r'CPACK_COMPONENTS_ALL=(\w+)', given):
                self.assertIn('gpulog_package(%s ' % component, cmake)

    def test_toolkit_is_new_enough(self):
        oldest = re.search(r'gpulog_oldest_nvcc ([\d.]+)', read('cmake/gpu.cmake'))[1]
        chosen = re.search(r'^ARG CUDA=([\d-]+)$', read('Dockerfile.cuda'), re.M)[1].replace('-', '.')
        self.assertGreaterEqual([int(part) for part in chosen.split('.')], [int(part) for part in oldest.split('.')])


if __name__ == '__main__':
    sys.exit(unittest.main())
