#!/usr/bin/env python3
"""Prints the parts of an archive of scripts/release as SPDX 2.3: gpulog, and the libraries of Debian in lib/gpulog.

  scripts/list_parts.py VERSION FOLDER
"""
import datetime
import hashlib
import json
import os
import subprocess
import sys


def sha256(path):
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


def part(name, version, supplier, license_name, path):
    return {'SPDXID': 'SPDXRef-' + name, 'name': name, 'versionInfo': version, 'supplier': supplier,
            'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': 'NOASSERTION',
            'licenseDeclared': license_name, 'copyrightText': 'NOASSERTION', 'packageFileName': os.path.basename(path),
            'checksums': [{'algorithm': 'SHA256', 'checksumValue': sha256(path)}]}


def library_part(folder, package):
    """A library, by the name of the Debian package whose license is in the archive."""
    listed = subprocess.run(['dpkg-query', '-L', package], check=True, capture_output=True, text=True).stdout.splitlines()
    version = subprocess.run(['dpkg-query', '-W', '-f=${Version}', package], check=True, capture_output=True, text=True).stdout
    names = {os.path.basename(path) for path in listed}
    file, = (name for name in os.listdir(os.path.join(folder, 'lib/gpulog')) if name in names)
    return part(package, version, 'Organization: Debian', 'NOASSERTION', os.path.join(folder, 'lib/gpulog', file))


def main():
    version, folder = sys.argv[1:]
    time = datetime.datetime.fromtimestamp(int(os.environ['SOURCE_DATE_EPOCH']), datetime.timezone.utc)
    command = os.path.join(folder, 'bin/gpulog')
    parts = [part('gpulog', version, 'Organization: the authors of gpulog', 'Apache-2.0', command)]
    parts += [library_part(folder, package) for package in sorted(os.listdir(os.path.join(folder, 'licenses')))]
    json.dump({'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': 'gpulog-' + version,
               'documentNamespace': 'https://spdx.org/spdxdocs/gpulog-%s-%s' % (version, sha256(command)),
               'creationInfo': {'created': time.strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': ['Tool: list_parts.py']},
               'packages': parts,
               'relationships': [{'spdxElementId': 'SPDXRef-gpulog', 'relationshipType': 'DYNAMIC_LINK',
                                  'relatedSpdxElement': one['SPDXID']} for one in parts[1:]] +
                                [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                                  'relatedSpdxElement': 'SPDXRef-gpulog'}]},
              sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
