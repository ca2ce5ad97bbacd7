"""The page of gpulog profile, which a headless Chromium opens without a network."""
import html
import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

from command import REACH, TIMEOUT_SECONDS
from test_profile import EDGES, ProfileTest, seconds_of

BROWSER = shutil.which('chromium')
OPENS_A_RULE = "[...document.querySelectorAll('#ruletable tr.opens')].find((row) => row.dataset.row < rules.length).click();"


def pixels(path):
    """Rows of (r, g, b), of a PNG with 8 bits a channel and no interlacing."""
    with open(path, 'rb') as file:
        data = file.read()
    width, height, bits, color = struct.unpack('>IIBB', data[16:26])
    assert bits == 8 and color in (2, 6)
    size = 3 if color == 2 else 4
    packed, at = b'', 8
    while at < len(data):
        length = struct.unpack('>I', data[at:at + 4])[0]
        if data[at + 4:at + 8] == b'IDAT':
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = width * size
    before = bytearray(stride)
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride) if kind else ():
            left = row[i - size] if i >= size else 0
            above = before[i]
            corner = before[i - size] if i >= size else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above
            elif kind == 3:
                guess = (left + above) // 2
            else:
                estimate = left + above - corner
                _, _, guess = min((abs(estimate - left), 0, left), (abs(estimate - above), 1, above),
                                  (abs(estimate - corner), 2, corner))
            row[i] = (row[i] + guess) & 255
        before = row
        yield [tuple(row[i:i + 3]) for i in range(0, stride, size)]


@unittest.skipIf(BROWSER is None, 'there is no chromium')
class Page(ProfileTest):
    def browse(self, page, *options):
        # Processes of the browser may still write into the folder after the browser has ended.
        with tempfile.TemporaryDirectory(prefix='gpulog-', ignore_cleanup_errors=True) as home:
            return subprocess.run([BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
                                   '--user-data-dir=' + home, '--proxy-server=127.0.0.1:9', *options,
                                   'file://' + self.path(page)], stdin=subprocess.DEVNULL, capture_output=True,
                                  check=True, text=True, errors='replace', timeout=TIMEOUT_SECONDS * 3).stdout

    def page_of(self, script='', before='', name='p.json'):
        """The page, with scripts of the test around its own."""
        self.assert_runs(self.run_gpulog('profile', name, '--html', 'p.html'))
        text = self.read('p.html')
        if script or before:
            text = text.replace('<body>', '<body><script>%s</script>' % before, 1)
            text = text.replace('</body>', '<script>%s</script></body>' % script, 1)
            self.write('p.html', text)
        return text

    def result_of(self, script, before=''):
        """What a test's script leaves in the body's data-result, as JSON."""
        self.page_of('document.body.dataset.result = JSON.stringify((() => { %s })());' % script, before)
        return self.results_in(self.browse('p.html', '--dump-dom'))

    def results_in(self, dom):
        found = re.search(r'data-result="([^"]*)"', dom)
        self.assertIsNotNone(found)
        return json.loads(html.unescape(found.group(1)))

    def test_three_runs(self):
        for example in ('java_points_to', 'taint', 'cspa'):
            with self.subTest(example=example):
                record = self.record_of(example)
                page = self.page_of()
                self.assertIsNone(re.search(r'(src|href)="(?!#)|@import|url\(|https?:', page.split('<script id=')[0]))
                dom = self.browse('p.html', '--dump-dom')
                self.assertIn('data-ready="true"', dom)
                self.assertIn('%s.dl</h1>' % example, dom)
                slowest = max((rule for stratum in record['strata'] for rule in stratum['rules']),
                              key=seconds_of)
                escaped = slowest['rule'].replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
                body = dom.split('id="ruletable"')[1].split('<section')[0]
                self.assertIn(escaped, next(row for row in body.split('<tr')[2:] if '[' in row.split('class="place">')[1]))
                lines = record['sources'][0]['text'].rstrip('\n').count('\n') + 1
                self.assertEqual(dom.split('<script id=')[0].count('class="row code'), lines)
                self.assertGreater(dom.split('<script id=')[0].count('class="box"'), 3)
                self.assertIn('<polyline', dom.split('<script id=')[0])

    def colours(self, *options):
        self.browse('p.html', '--screenshot=' + self.path('p.png'), '--window-size=900,1100', *options)
        counts = {}
        for row in pixels(self.path('p.png')):
            for colour in row:
                counts[colour] = counts.get(colour, 0) + 1
        return counts

    def test_screenshot(self):
        self.record_of('java_points_to')
        self.page_of()
        for options, paper in (([], (255, 255, 255)), (['--blink-settings=preferredColorScheme=0'], (20, 24, 28))):
            with self.subTest(options=options):
                counts = self.colours(*options)
                self.assertEqual(max(counts, key=counts.get), paper)
                self.assertGreater(len(counts), 100, 'there is next to nothing on the page')
                warm = sum(n for (r, g, b), n in counts.items() if r - b > 60 and r > g + 25 and g >= b)
                self.assertGreater(warm, 500, 'no rule is hot')
                blue = sum(n for (r, g, b), n in counts.items() if b - r > 30 and b > g)
                self.assertGreater(blue, 500, 'the flame view has no boxes')

    def test_sorting_and_keyboard(self):
        record = self.record_of('java_points_to')
        rules = [rule for stratum in record['strata'] for rule in stratum['rules']]
        found = self.result_of('''
            const result = {};
            const rows = () => [...document.querySelectorAll('#ruletable tr.opens')].filter((row) => row.dataset.row < rules.length);
            const numbers = () => rows().map((row) => Number(row.dataset.row));
            const key = (name) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
            result.bySeconds = numbers();
            document.querySelectorAll('#ruletable th button')[4].click();
            result.byCandidates = numbers();
            document.querySelectorAll('#ruletable th button')[4].click();
            result.byCandidatesUp = numbers();
            rows()[0].focus();
            do key('ArrowDown'); while (!rows().includes(document.activeElement));
            result.second = Number(document.activeElement.dataset.row);
            key('Enter');
            result.open = document.querySelectorAll('#ruletable td.plan').length;
            result.steps = document.querySelector('#ruletable td.plan').textContent;
            key('Enter');
            result.closed = document.querySelectorAll('#ruletable td.plan').length;
            const boxes = document.querySelectorAll('#flame .box');
            boxes[0].focus();
            key('ArrowRight');
            result.box = document.activeElement === boxes[1];
            const box = [...boxes].find((one) => Number(one.dataset.rule) >= 0);
            box.click();
            result.shown = [Number(box.dataset.rule), Number(document.activeElement.dataset.row)];
            result.links = [...document.querySelectorAll('nav a')].every((a) => document.querySelector(a.getAttribute('href')));
            return result;''')

        def value(name, rule):
            return seconds_of(rule) if name == 'seconds' else rule[name]

        def ordered(name, numbers):
            return [value(name, rules[number]) for number in numbers]
        for name, numbers, down in (('seconds', found['bySeconds'], True), ('candidates', found['byCandidates'], True),
                                    ('candidates', found['byCandidatesUp'], False)):
            self.assertEqual(ordered(name, numbers), sorted((value(name, rule) for rule in rules), reverse=down))
        self.assertEqual(found['second'], found['byCandidatesUp'][1])
        self.assertEqual((found['open'], found['closed']), (1, 0))
        self.assertIn(rules[found['second']]['location'], found['steps'])
        self.assertTrue(found['box'] and found['links'])
        self.assertEqual(found['shown'][0], found['shown'][1])

    def test_plan_has_the_steps(self):
        record = self.record_of('java_points_to')
        rules = [rule for stratum in record['strata'] for rule in stratum['rules']]
        slowest = max(rules, key=seconds_of)
        found = self.result_of(OPENS_A_RULE + '''
            return [...document.querySelectorAll('#ruletable td.plan tbody tr')].map((row) => row.firstChild.textContent.trim());''')
        self.assertEqual(found, [one['operator'] for one in slowest['operators']])

    def test_zoom(self):
        record = self.record_of('java_points_to')
        found = self.result_of('''
            const result = {};
            const boxes = () => [...document.querySelectorAll('#flame .box')];
            const width = (box) => parseFloat(box.style.width);
            const active = () => document.activeElement;
            const key = (name) => active().dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
            const before = boxes().length;
            const stratum = boxes().filter((box) => box.style.top === '24px').sort((a, b) => width(b) - width(a))[0];
            const name = stratum.textContent, left = (box) => parseFloat(box.style.left);
            const inside = (box) => left(box) >= left(stratum) - 0.01 && left(box) + width(box) <= left(stratum) + width(stratum) + 0.01;
            const rulesOf = (some) => some.map((box) => Number(box.dataset.rule)).filter((rule) => rule >= 0);
            const rules = rulesOf(boxes().filter(inside));
            stratum.click();
            result.zoomed = [active().textContent === name, width(active()), document.getElementById('zoomed').hidden];
            result.rulesStay = rules.every((rule) => rulesOf(boxes()).includes(rule));
            result.inside = boxes().every((box) => parseFloat(box.style.left) + width(box) <= 100.01);
            key('Escape');
            result.all = [boxes().length === before, active().textContent === name, document.getElementById('zoomed').hidden];
            const rule = boxes().find((box) => Number(box.dataset.rule) >= 0);
            rule.focus();
            key('z');
            result.rule = [active().textContent === rule.textContent, width(active())];
            document.querySelector('#zoomed button').click();
            result.back = [boxes().length === before, active().classList.contains('box')];
            return result;''')
        self.assertGreater(len(record['strata']), 1)
        self.assertEqual(found, {'zoomed': [True, 100, False], 'rulesStay': True, 'inside': True, 'all': [True, True, True],
                                 'rule': [True, 100], 'back': [True, True]})

    def test_marks_what_is_far_from_expected(self):
        self.assert_runs(self.run_program(REACH, '-p', 'p.json', facts=EDGES))
        record = json.loads(self.read('p.json'))
        rule = next(rule for stratum in record['strata'] for rule in stratum['rules'])
        rule.update(runs=2, counted_runs=2, seconds=1e9)
        rule['operators'] = [{'operator': 'for edge(x,y)', 'depth': depth, 'reads': True, 'expected': expected, 'rows': rows}
                             for depth, (expected, rows) in enumerate(((100, 2001), (100, 2000), (100, 19), (100, 20), (0, 10),
                                                                       (0, 11)))]
        self.write_record(record)
        self.assertEqual(self.result_of('''document.querySelector('#ruletable tr.opens').click();
            return [...document.querySelectorAll('#ruletable td.plan tr')].filter((row) => row.querySelector('td.step'))
              .map((row) => row.querySelectorAll('td.far').length);'''), [1, 0, 1, 0, 0, 1])

    def test_rows_add_up(self):
        self.write_record(self.record_with_times())
        found = self.result_of('''const rows = [...document.querySelectorAll('#ruletable tr.opens')];
            rows.find((row) => row.textContent.includes('materialize')).click();
            return [rows.map((row) => [row.children[0].textContent, row.children[1].textContent, row.children[2].textContent,
                                       row.querySelector('.code').textContent]),
                    document.querySelector('#ruletable td.plan').textContent];''')
        self.assertEqual(found, [[['8.00 s', '40.0 %', '1.00 s', 'a(x) :- x = 2.'], ['4.00 s', '20.0 %', '', 'materialize'],
                                  ['2.00 s', '10.0 %', '', 'load'], ['2.00 s', '10.0 %', '', 'between strata'],
                                  ['1.50 s', '7.5 %', '', 'other work of strata'], ['1.00 s', '5.0 %', '', 'write'],
                                  ['1.00 s', '5.0 %', '', 'rest of the run'], ['0.50 s', '2.5 %', '', 'clear']],
                                 'stores factorized relations as columnsstratum 1: a4.00 s'])

    def test_gaps_of_the_flame_view(self):
        self.write_record(self.record_with_times())
        found = self.result_of('''return [...document.querySelectorAll('#flame > *')].map((box) =>
            [box.className, box.textContent, parseInt(box.style.top) / 24, parseFloat(box.style.left), parseFloat(box.style.width)]);''')
        self.assertEqual(sorted(found, key=lambda box: box[2:]), [
            ['box', 'load', 0, 0, 10], ['box', 'evaluate', 0, 10, 80], ['box', 'write', 0, 90, 5],
            ['gap', 'rest of the run', 0, 95, 5], ['gap', 'between strata', 1, 10, 5], ['box', 'a', 1, 15, 70],
            ['gap', 'between strata', 1, 85, 5], ['gap', 'materialize', 2, 15, 20], ['box', 'a(x) :- x = 2.', 2, 35, 40],
            ['gap', 'clear', 2, 75, 2.5], ['gap', 'other work of strata', 2, 77.5, 7.5]])

    def test_advice_and_indexes(self):
        record = self.record_with_times()
        stratum = record['strata'][0]
        stratum['rules'][0].update(candidates=10, tuples=1)
        stratum['indexes'] = [{'number': 7, 'relation': 'b', 'columns': ['x', 'y'], 'key_columns': 1, 'rules': 3, 'rule': 0,
                               'refreshes': 5, 'seconds': 1.0, 'bytes': 64}]
        self.write_record(record)
        found = self.result_of('''const advice = document.querySelector('#advice').textContent;
            document.querySelector('#advice button').click();
            return [advice, document.querySelector('#ruletable td.plan').textContent,
                    [...document.querySelectorAll('#indextable tbody td')].map((cell) => cell.textContent)];''')
        self.assertEqual(found, ['Advice on rules and indexes with at least 5 % of the time8.00 s, 40.0 %: program.dl [3:1-3:15]: '
                                 '90 % of 10 candidates are duplicates (advice from 80 %): join through a relation with only the '
                                 'columns that the head needs.',
                                 'program.dl [3:1-3:15]; stratum 1: a; ran by pipelinesindex 7 b(x,y): 1.00 s, 64B'
                                 'stepexpected rowsactual rowsinsert a(2)',
                                 ['1.00 s', '5.0 %', '64B', '5', '3', '7', 'b(x,y)', 'program.dl [3:1-3:15]']])

    def test_filter(self):
        self.record_of('java_points_to')
        found = self.result_of('''const filter = document.querySelector('#ruletable input');
            const rows = () => document.querySelectorAll('#ruletable tr.opens');
            const all = rows().length;
            filter.value = 'CLASS :- extends';
            filter.dispatchEvent(new Event('input'));
            const texts = [...rows()].map((row) => row.querySelector('.code').textContent);
            const label = filter.nextSibling.textContent;
            showRule(0);
            return [texts, label === `${texts.length} of ${all}`, filter.value, rows().length === all];''')
        self.assertGreater(len(found[0]), 0)
        self.assertTrue(all('class' in rule and ':-' in rule and 'extends' in rule for rule in found[0]))
        self.assertEqual(found[1:], [True, '', True])

    def test_axes_have_whole_iterations(self):
        record = self.record_with_times()
        for count in (1, 3, 10, 237, 5000):
            record['strata'][0]['deltas'] = [[1, 7, 0.1], [count, 3 * count, 0.2]]
            self.write_record(record)
            numbers = self.result_of('''const chart = document.querySelectorAll('#deltas svg')[0];
                return [...chart.querySelectorAll('text')].map((one) => one.textContent);''')
            self.assertGreater(len(numbers), 4)
            self.assertTrue(all(re.fullmatch(r'[0-9]+(\.[0-9])?k|[0-9]+', number) for number in numbers), numbers)

    def test_width(self):
        """No part is wider than the page, also with plans open, and a narrow page is of bounded height."""
        record = self.record_of('java_points_to')
        rule = record['strata'][-1]['rules'][0]
        rule.update(seconds=1e9, operators=[{'operator': 'match %s[x] -> y' % ('relation' * 20), 'depth': depth, 'expected': 1, 'rows': 2}
                                            for depth in range(12)])
        record['strata'][-1]['relations'] = ['relation%d' % i for i in range(200)]
        record['sources'][0]['text'] += '// ' + 'words ' * 100 + '\n' * 5000
        self.write_record(record)
        page = json.dumps(self.page_of()).replace('<', '\\u003c')
        for width in (400, 1280):
            self.write('frame.html', '''<body><iframe style="width:%dpx;height:900px;border:0"></iframe><script>
                const frame = document.querySelector('iframe');
                frame.onload = () => {
                  const inner = frame.contentDocument;
                  [...inner.querySelectorAll('#ruletable tr.opens')].slice(0, 3).forEach((row) => row.click());
                  const right = (element) => element.getBoundingClientRect().right;
                  const cells = [...inner.querySelectorAll('#ruletable td.plan td')];
                  document.body.dataset.result = JSON.stringify([frame.contentWindow.innerWidth, inner.documentElement.scrollWidth,
                    cells.every((cell) => right(cell) <= %d), cells.length > 30, inner.documentElement.scrollHeight]);
                };
                frame.srcdoc = %s;
                </script></body>''' % (width, width, page))
            found = self.results_in(self.browse('frame.html', '--dump-dom', '--window-size=1400,1000'))
            self.assertEqual((found[0], found[2:4]), (width, [True, True]))
            self.assertLessEqual(found[1], width)
            self.assertLess(found[4], 20000)

    def test_texts_stay_texts(self):
        program = '.decl a(x:symbol)\n// </script><b id="bad">\na("</script><img id=bad><!--").\n.decl b(x:symbol)\n' \
                  'b(x) :- a(x), x != "<b id=bad>&amp;".\n.output b\n'
        self.assert_runs(self.run_program(program, '-p', 'p.json'))
        found = self.result_of('''document.querySelector('#ruletable tr.opens').click();
            return [document.querySelectorAll('#bad').length, document.querySelectorAll('.source .row').length,
                    document.querySelectorAll('.source .row')[4].lastChild.textContent];''')
        self.assertEqual(found, [0, 6, 'b(x) :- a(x), x != "<b id=bad>&amp;".'])

    def test_many_rules(self):
        """What the page does grows no faster than the program."""
        self.assert_runs(self.run_program(REACH, '-p', 'p.json', facts=EDGES))
        record = json.loads(self.read('p.json'))
        stratum = record['strata'][-1]
        work = []
        for rules in (2500, 10000):
            stratum['rules'] = [dict(stratum['rules'][0], rule='r%d(x) :- a(x).' % i, seconds=i * 1e-6,
                                     location='program.dl [%d:1-%d:9]' % (i + 1, i + 1)) for i in range(rules)]
            record['sources'] = [{'path': 'program.dl', 'text': ''.join('r%d(x) :- a(x).\n' % i for i in range(rules))}]
            self.write_record(record)
            before = '''window.calls = 0;
                for (const [type, name] of [[String, 'replace'], [Array, 'push'], [Map, 'get'], [Map, 'set']]) {
                  const original = type.prototype[name];
                  type.prototype[name] = function (...given) { ++window.calls; return original.apply(this, given); };
                }'''
            work.append(self.result_of('''return [window.calls, document.getElementsByTagName('*').length,
                document.querySelectorAll('#ruletable tr.opens').length];''', before))
        (calls, elements, rows), (more_calls, more_elements, more_rows) = work
        self.assertLess(more_calls, 4.5 * calls)
        self.assertLess(more_elements, 4.5 * elements)
        self.assertEqual(rows, more_rows)


if __name__ == '__main__':
    unittest.main()
