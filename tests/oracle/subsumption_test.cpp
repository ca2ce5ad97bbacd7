// Subsumption and choice-domains: the engine against the naive evaluator, and against properties that results must
// have.

#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <random>
#include <string>

#include "oracle/engine_comparison.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

class random_choice {
 public:
  explicit random_choice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  /// Returns `count` different lines, in their order.
  std::string some(const std::vector<std::string>& lines, std::size_t count) {
    std::set<std::size_t> chosen;
    while (chosen.size() < std::min(count, lines.size())) chosen.insert(below(lines.size()));
    std::string text;
    for (const std::size_t number : chosen) text += lines[number] + "\n";
    return text;
  }

 private:
  std::mt19937_64 random_;
};

/// Makes programs whose domination is not always an order: the remaining tuples then depend on every step.
std::string make_subsumptive_program(std::uint64_t seed) {
  random_choice random(seed);
  const bool recursive = random.below(4) != 0;
  std::string text =
      ".decl e(x:number, y:number)\n.decl n(x:number)\nn(x) :- e(x,_).\nn(y) :- e(_,y).\n"
      ".decl r(a:number, b:number, c:number)\n.decl s(a:number, b:number, c:number)\ns(x,y,1) :- e(y,x).\n";
  text += random.some({"r(x,y,0) :- e(x,y).", "r(x,y,x*y%5) :- e(x,y).", "r(y,x,z) :- e(x,y), e(y,z).",
                       "r(x,x,3) :- n(x).", "r(x,y,4) :- e(x,_), e(_,y)."},
                      1 + random.below(3));
  if (recursive) {
    text += random.some({"r(x,z,(c+1)%6) :- r(x,y,c), e(y,z).", "r(x,z,c+1) :- r(x,y,c), e(y,z), c < 6.",
                         "r(x,z,max(c,d)) :- r(x,y,c), r(y,z,d).", "r(x,y,c) :- s(y,x,c).",
                         "r(y,x,c) :- r(x,y,c), r(_,y,_).", "r(x,y,d) :- r(x,y,c), r(y,x,d), c != d.",
                         "r(x,y,c) :- r(x,y,_), n(c), c < 3.", "r(x,y,c) :- s(x,z,c), r(z,y,c)."},
                        1 + random.below(3));
    text += random.some({"s(x,y,c) :- r(x,y,c), n(y).", "s(x,z,c) :- s(x,y,c), e(y,z).", "s(x,y,2) :- r(x,y,3)."},
                        random.below(3));
  }
  text +=
      random.some({"r(a,b,c) <= r(a,b,d) :- d < c.", "r(a,b,c) <= r(a,b,d) :- c < d.", "r(a,b,c) <= r(a,d,c) :- d < b.",
                   "r(a,b,c) <= r(d,b,c) :- e(a,d).", "r(a,b,c) <= r(a,d,f) :- d <= b, f <= c.",
                   "r(a,b,c) <= r(d,f,g) :- d <= a, f <= b, g <= c.", "r(a,b,_) <= r(a,d,_) :- b != d.",
                   "r(a,b,_) <= r(b,a,_) :- a < b.", "r(a,b,_) <= r(d,f,g) :- !e(a,d), f < b, n(g).",
                   "r(a,b,3) <= r(a,b,c) :- c != 3.", "r(a,b,c) <= r(a,b,d) :- d < c, e(d,x), x != a.",
                   "r(a,_,c) <= r(a,_,d) :- c < count : e(d,_).", "r(a,b,c) <= r(a,d,c) :- s(a,d,_), d < b.",
                   "r(a,b,c) <= r(a,d,c) :- r(b,d,_), b < d.", "r(a,a,c) <= r(a,b,c) :- a != b.",
                   "r(a,b,c) <= r(a,d,c+1) :- b > d.", "r(a,b,c) <= r(a,b,d) :- (d < c, n(d) ; d = c + 1).",
                   "r(a,b,c+1) <= r(a,b,c) :- true.", "r(_,b,c) <= r(_,b,d) :- c = d % 3, c != d."},
                  1 + random.below(3));
  text += random.some({"s(a,b,c) <= s(a,b,d) :- c < d.", "s(a,b,c) <= s(a,d,c) :- r(d,b,_), b < d."},
                      random.below(4) == 0 ? 1 : 0);
  text +=
      ".decl t(x:number, k:number)\nt(x,k) :- n(x), k = count : r(x,_,_).\n"
      ".decl u(x:number, y:number)\nu(x,y) :- e(x,y), !r(x,y,_).\n.decl v(x:number)\nv(c) :- r(_,_,c), s(c,_,_).\n";
  return text;
}

TEST(subsumption_against_oracle, random_programs) {
  const std::uint64_t begin = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(300);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto nodes = static_cast<std::uint32_t>(3 + seed % 4);
    const comparison both(make_subsumptive_program(seed), oracle::make_random_graph(seed, nodes, nodes + seed % 5));
    ASSERT_TRUE(both.accepted()) << both.report() << make_subsumptive_program(seed);
    if (!both.has_fixpoint()) continue;
    ++compared;
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared, count / 2);
}

using rows_of_words = std::set<std::vector<wide_word>>;

class running_program {
 public:
  running_program(const std::string& text, const mode& how, const edges& facts)
      : running_(program::from_text(text, {.include_directories = {}, .macros = {}, .pragmas = {}, .warnings = false}),
                 options_of(how)) {
    relation input = running_.relation("e");
    for (const auto& [from, to] : facts) {
      input.insert({value(static_cast<std::int32_t>(from)), value(static_cast<std::int32_t>(to))});
    }
    running_.evaluate();
  }

  [[nodiscard]] rows_of_words rows(const std::string& name) {
    rows_of_words result;
    for (const tuple& row : running_.relation(name)) {
      std::vector<wide_word> words;
      for (std::size_t column = 0; column < row.size(); ++column) words.push_back(row.word64(column));
      EXPECT_TRUE(result.insert(std::move(words)).second);
    }
    return result;
  }

 private:
  static run_options options_of(const mode& how) {
    run_options options;
    options.storage = how.storage;
    options.jobs = how.jobs;
    options.backend = how.backend;
    return options;
  }
  engine running_;
};

/// Makes programs with recursive aggregates. Relation `wrong` has the keys whose result differs from the result of
/// the rules applied one by one.
std::string make_aggregating_program(std::uint64_t seed) {
  random_choice random(seed);
  const bool least = random.below(2) == 0;
  const std::vector<std::string> of_least = {"p(y,v) :- n(y), v = min c + x % 3 : { p(x,c), e(x,y) }.",
                                             "p(y,v) :- n(y), v = min max(c,x) : { p(x,c), e(y,x) }.",
                                             "p(y,v) :- n(y), v = min c + d : { p(x,c), q(x,d,y) }.",
                                             "p(y,min c + 1 : { p(x,c), e(x,y), c < 6 }) :- e(y,_).",
                                             "p(y,v) :- n(y), v = min c : { p(x,c), e(x,y), !e(y,x), c <= x }, v < 5.",
                                             "p(y,v) :- e(y,z), v = min z - c : { e(y,x), o(x,c) }.",
                                             "q(x,v,y) :- n(x), n(y), v = min c + d : { q(x,c,z), q(z,d,y) }.",
                                             "q(x,v,y) :- e(x,y), v = min c + x : { p(x,c), e(_,y) }.",
                                             "q(x,v,y) :- e(x,y), v = min x : { r(x), e(y,x) }.",
                                             "p(y,c+2) :- p(x,c), e(x,y).",
                                             "q(x,max(c,d),y) :- p(x,c), p(y,d), e(x,y).",
                                             "o(y,v) :- n(y), v = max -c : { p(x,c), e(x,y) }.",
                                             "o(y,-c/2) :- q(y,c,_).",
                                             "r(x) :- p(x,c), c < 3.",
                                             "r(x) :- n(x), 2 <= count : { e(x,y), r(y) }.",
                                             "r(x) :- n(x), 3 < sum y : { e(x,y), r(y), y > 0 }.",
                                             "r(x) :- e(y,x), n(y), y > 0, count : { r(_) } > y."};
  const std::vector<std::string> of_greatest = {
      "p(y,v) :- n(y), v = max min(c + x % 3, 9) : { p(x,c), e(x,y) }.",
      "p(y,v) :- n(y), v = max min(c,x) : { p(x,c), e(y,x) }.",
      "p(y,v) :- n(y), v = max min(c,d) : { p(x,c), q(x,d,y) }.",
      "p(y,max c - 1 : { p(x,c), e(x,y), c > 2 }) :- e(y,_).",
      "q(x,v,y) :- n(x), n(y), v = max min(c + d, 11) : { q(x,c,z), q(z,d,y) }, v >= 3.",
      "q(x,v,y) :- e(x,y), v = max c / 2 : { p(x,c), e(_,y) }.",
      "p(y,c-2) :- p(x,c), e(x,y).",
      "o(y,v) :- n(y), v = min 3 - c : { p(x,c), e(x,y) }.",
      "r(x) :- p(x,c), c > 3.",
      "r(x) :- n(x), 2 <= count : { e(y,x), r(y) }.",
      "q(x,x,y) :- r(x), r(y)."};
  const std::vector<std::string>& rules = least ? of_least : of_greatest;
  const std::vector<std::string> base = {"p(x,x) :- n(x).",         "p(0,0) :- e(_,_).", "p(x,4) :- e(x,x).",
                                         "q(x,x*y%5,y) :- e(x,y).", "q(x,1,x) :- n(x).", "o(x,-x) :- n(x).",
                                         "r(x) :- e(x,x)."};
  // The rules that make each value the least or greatest of its key.
  std::string chosen = rules[0] + "\n" + (least ? rules[6] : rules[4]) + "\n" + (least ? rules[11] : rules[7]) + "\n" +
                       random.some(rules, random.below(5)) + random.some(base, 2 + random.below(4));
  // Rules that connect all relations to one recursion.
  chosen += least ? "p(y,9-c) :- o(y,c), c >= 0.\no(y,-c-3) :- q(y,c,y).\nq(x,8+c,x) :- p(x,c).\n"
                  : "p(y,-9-c) :- o(y,c), c < 0.\no(y,5-c) :- q(y,c,y).\nq(x,c-8,x) :- p(x,c).\n";
  std::string text =
      ".decl e(x:number, y:number)\n.decl n(x:number)\nn(x) :- e(x,_).\nn(y) :- e(_,y).\n.decl wrong(x:number)\n";
  std::string once = chosen;
  for (const char* name : {"p", "q", "o", "r"}) {
    const bool is_pair = *name == 'q';
    const std::string columns = *name == 'r' ? "(k:number)"
                                : is_pair    ? "(k:number, v:number, l:number)"
                                             : "(k:number, v:number)";
    text += std::string(".decl ") + name + columns + "\n.decl once_" + name + columns + "\n";
    for (std::size_t at = 0; at != std::string::npos; at = once.find('\n', at)) {
      if (once[at] == '\n') ++at;
      if (at < once.size() && once[at] == *name && once[at + 1] == '(') once.insert(at, "once_");
    }
    if (*name == 'r') continue;
    const auto with = [&](const std::string& relation, const std::string& value) {
      return relation + "(k," + value + (is_pair ? ",l)" : ")");
    };
    const bool smaller = (*name == 'o') != least;
    const std::string own = name;
    text += "wrong(k) :- " + with(own, "v") + ", !" + with("once_" + own, "v") + ".\nwrong(k) :- " +
            with("once_" + own, "v") + ", " + with(own, "u") + ", v " + (smaller ? "<" : ">") + " u.\nwrong(k) :- " +
            with("once_" + own, "_") + ", !" + with(own, "_") + ".\nwrong(k) :- " + with(own, "_") +
            ", 1 != count : " + with(own, "_") + ".\n";
  }
  return text + chosen + once;
}

TEST(recursive_aggregates_against_oracle, random_programs) {
  const std::uint64_t begin = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(150);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto nodes = static_cast<std::uint32_t>(3 + seed % 4);
    const std::string text = make_aggregating_program(seed);
    const edges graph = oracle::make_random_graph(seed, nodes, nodes + seed % 5);
    const comparison both(text, graph);
    ASSERT_TRUE(both.accepted()) << both.report() << text;
    if (!both.has_fixpoint()) continue;
    ++compared;
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    EXPECT_TRUE(running_program(text, modes.front(), graph).rows("wrong").empty()) << text;
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, count / 2);
}

TEST(recursive_aggregates_against_oracle, random_programs_on_gpu) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
  const std::uint64_t begin = oracle::first_seed(1);
  const std::uint64_t count = programs_for_gpu(200);
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto nodes = static_cast<std::uint32_t>(3 + seed % 4);
    const edges graph = oracle::make_random_graph(seed, nodes, nodes + seed % 5);
    for (const std::string& text : {make_aggregating_program(seed), make_subsumptive_program(seed)}) {
      const comparison both(text, graph);
      ASSERT_TRUE(both.accepted()) << both.report() << text;
      if (both.has_fixpoint()) both.expect_same(gpu_modes[seed % gpu_modes.size()]);
    }
    if (HasFatalFailure()) return;
  }
}

/// The graph is large enough for all workers to take part.
TEST(subsumption, finds_shortest_distances_release_only) {
  constexpr std::uint32_t nodes = 6000;
  const edges graph = oracle::make_random_graph(7, nodes, 40000);
  const auto weight = [](std::uint32_t x, std::uint32_t y) { return (x * 31 + y * 17) % 100 + 1; };
  std::vector<std::vector<std::uint32_t>> successors(nodes);
  for (const auto& [from, to] : graph) successors[from].push_back(to);
  std::vector<std::uint32_t> distances(nodes, UINT32_MAX);
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<std::uint32_t, std::uint32_t>>,
                      std::greater<>>
      waiting;
  for (waiting.push({distances[0] = 0, 0}); !waiting.empty();) {
    const auto [distance, node] = waiting.top();
    waiting.pop();
    if (distance != distances[node]) continue;
    for (const std::uint32_t next : successors[node]) {
      if (distance + weight(node, next) >= distances[next]) continue;
      distances[next] = distance + weight(node, next);
      waiting.push({distances[next], next});
    }
  }
  rows_of_words expected;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (distances[node] != UINT32_MAX) expected.insert({node, distances[node]});
  }
  const std::string linear =
      ".decl e(x:number, y:number)\n.decl d(x:number, k:number)\nd(0,0) :- e(_,_).\n"
      "d(y,k+(x*31+y*17)%100+1) :- d(x,k), e(x,y).\nd(x,k) <= d(x,l) :- l < k.\n";
  // With a second condition, the tuple set no longer finds the best tuples.
  const std::string general = linear.substr(0, linear.rfind(".\n")) + ", l >= 0.\n";
  const std::string aggregate =
      ".decl e(x:number, y:number)\n.decl d(x:number, k:number)\nd(0,0) :- e(_,_).\n"
      "d(y,k) :- e(_,y), k = min l + w : { d(x,l), e(x,y), w = (x*31+y*17)%100+1 }.\n";
  for (const mode& how : modes) {
    EXPECT_EQ(running_program(linear, how, graph).rows("d"), expected) << how.name;
    EXPECT_EQ(running_program(aggregate, how, graph).rows("d"), expected) << how.name;
    EXPECT_EQ(running_program(general, how, graph).rows("d"), expected) << how.name;
  }
}

/// Rules read all rows of a relation that loses rows.
TEST(subsumption, in_a_rule_that_reads_the_relation_twice_release_only) {
  constexpr std::uint32_t nodes = 60;
  const edges graph = oracle::make_random_graph(11, nodes, 300);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> distances;
  for (const auto& [from, to] : graph) distances[{from, to}] = (from * 7 + to * 3) % 20 + 1;
  for (std::uint32_t via = 0; via < nodes; ++via) {
    for (std::uint32_t from = 0; from < nodes; ++from) {
      for (std::uint32_t to = 0; to < nodes; ++to) {
        const auto first = distances.find({from, via});
        const auto second = distances.find({via, to});
        if (first == distances.end() || second == distances.end()) continue;
        const std::uint32_t sum = first->second + second->second;
        const auto [known, inserted] = distances.emplace(std::pair(from, to), sum);
        known->second = std::min(known->second, sum);
      }
    }
  }
  rows_of_words expected;
  for (const auto& [pair, distance] : distances) expected.insert({pair.first, pair.second, distance});
  const std::string text =
      ".decl e(x:number, y:number)\n.decl d(x:number, y:number, k:number)\nd(x,y,(x*7+y*3)%20+1) :- e(x,y).\n"
      "d(x,z,k+l) :- d(x,y,k), d(y,z,l).\nd(x,y,k) <= d(x,y,l) :- l < k.\n";
  const std::string general = text.substr(0, text.rfind(".\n")) + ", l >= 0.\n";
  for (const mode& how : modes) {
    EXPECT_EQ(running_program(text, how, graph).rows("d"), expected) << how.name;
    EXPECT_EQ(running_program(general, how, graph).rows("d"), expected) << how.name;
  }
  if (!no_gpu().empty()) return;
  for (const mode& how : gpu_modes) EXPECT_EQ(running_program(text, how, graph).rows("d"), expected) << how.name;
}

/// One chain holds all rows, with and without a recursion; few rows dominate most rows.
TEST(subsumption, finds_the_front_of_many_points_release_only) {
  edges points;
  std::mt19937_64 random(13);
  std::set<std::pair<std::uint32_t, std::uint32_t>> all;
  while (all.size() < oracle::fewer_when_sanitized(12000))
    all.insert({static_cast<std::uint32_t>(random() % 20000), static_cast<std::uint32_t>(random() % 20000)});
  rows_of_words expected;
  std::int64_t lowest = INT64_MAX;
  for (const auto& [x, y] : all) {
    points.emplace_back(x, y);
    if (y >= lowest) continue;
    lowest = y;
    expected.insert({x, y});
  }
  const std::string once =
      ".decl e(x:number, y:number)\n.decl f(x:number, y:number)\nf(x,y) :- e(x,y).\n"
      "f(a,b) <= f(c,d) :- c <= a, d <= b.\n";
  const std::string repeated =
      ".decl e(x:number, y:number)\n.decl f(x:number, y:number)\nf(30000,30000) :- e(_,_).\n"
      "f(x,y) :- f(_,_), e(x,y).\nf(a,b) <= f(c,d) :- c <= a, d <= b.\n";
  for (const mode& how : modes) {
    EXPECT_EQ(running_program(once, how, points).rows("f"), expected) << how.name;
    EXPECT_EQ(running_program(repeated, how, points).rows("f"), expected) << how.name;
  }
}

/// Expects a valid choice: no rule derives a tuple that would still fit, and a rule derives every chosen tuple.
void expect_valid_choice(const std::string& text, const mode& how, const edges& graph) {
  source_manager sources;
  diagnostics report;
  source_file& file = sources.add("choice.dl", text);
  const auto analysed = sema::analyse(syntax::parse(file, sources, report), report, {.warnings = false});
  ASSERT_TRUE(analysed.has_value()) << report.to_string() << text;
  running_program running(text, how, graph);
  oracle::database data(*analysed);
  for (std::uint32_t number = 0; number < analysed->relations.size(); ++number) {
    data[relation_id(number)] = running.rows(analysed->relations[number].name);
  }
  std::vector<oracle::tuples> derivable(analysed->relations.size());
  for (const sema::fact& fact : analysed->facts) derivable[fact.relation.value].insert(fact.values);
  for (const sema::rule& rule : analysed->rules)
    derivable[rule.head.relation.value].merge(derive(*analysed, rule.id, data));
  for (std::uint32_t number = 0; number < analysed->relations.size(); ++number) {
    const sema::relation& relation = analysed->relations[number];
    const oracle::tuples& rows = data[relation_id(number)];
    if (relation.name == "e") continue;
    if (relation.choice_domains.empty()) {
      EXPECT_EQ(rows, derivable[number]) << how.name << ", relation " << relation.name << "\n" << text;
      continue;
    }
    std::vector<oracle::tuples> keys(relation.choice_domains.size());
    const auto key_of = [&](const oracle::tuple& row, std::size_t domain) {
      oracle::tuple key;
      for (const std::uint32_t column : relation.choice_domains[domain]) key.push_back(row[column]);
      return key;
    };
    for (const oracle::tuple& row : rows) {
      EXPECT_TRUE(derivable[number].contains(row)) << how.name << "\n" << text;
      for (std::size_t domain = 0; domain < keys.size(); ++domain) {
        EXPECT_TRUE(keys[domain].insert(key_of(row, domain)).second) << how.name << "\n" << text;
      }
    }
    for (const oracle::tuple& row : derivable[number]) {
      bool fits = true;
      for (std::size_t domain = 0; domain < keys.size(); ++domain) {
        fits = fits && !keys[domain].contains(key_of(row, domain));
      }
      EXPECT_FALSE(fits) << how.name << "\n" << text;
    }
  }
}

std::string make_choice_program(std::uint64_t seed) {
  random_choice random(seed);
  const std::vector<std::string> domains = {"a", "b", "c", "(a,b)", "a, b", "(a,c), b", "(a,b,c)", "a, (b,c)"};
  std::string text = ".decl e(x:number, y:number)\n.decl r(a:number, b:number, c:number) choice-domain " +
                     domains[random.below(domains.size())] + "\n.decl s(a:number, b:number) choice-domain " +
                     (random.below(2) == 0 ? "a" : "a, b") + "\n";
  text += random.some({"r(x,y,0) :- e(x,y).", "r(x,y,x-y) :- e(x,y).", "r(y,x,z) :- e(x,y), e(y,z).", "r(7,8,9).",
                       "r(7,9,9).", "r(x,y,4) :- e(x,_), e(_,y)."},
                      1 + random.below(4));
  text += random.some({"r(x,z,(c+1)%6) :- r(x,y,c), e(y,z).", "r(x,z,c) :- r(x,y,c), r(y,z,d), c <= d.",
                       "r(x,y,1) :- s(y,x).", "r(y,x,c) :- r(x,y,c), r(_,y,_)."},
                      random.below(3));
  text += random.some({"s(x,y) :- r(x,y,_).", "s(x,y) :- e(x,y).", "s(x,z) :- s(x,y), e(y,z)."}, 1 + random.below(3));
  text += ".decl t(a:number)\nt(a) :- s(a,b), !r(a,b,_).\nt(a) :- e(a,_), 2 < count : r(_,a,_).\n";
  return text;
}

TEST(choice, is_valid_and_always_the_same) {
  const std::uint64_t begin = oracle::first_seed(1);
  for (std::uint64_t seed = begin; seed < begin + oracle::fewer_when_sanitized(200); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = make_choice_program(seed);
    const auto nodes = static_cast<std::uint32_t>(4 + seed % 12);
    const edges graph = oracle::make_random_graph(seed, nodes, nodes * (1 + seed % 4));
    expect_valid_choice(text, modes[seed % modes.size()], graph);
    running_program first(text, modes[0], graph);
    running_program second(text, modes[1 + seed % (modes.size() - 1)], graph);
    for (const char* name : {"r", "s", "t"}) EXPECT_EQ(first.rows(name), second.rows(name)) << text;
    if (HasFailure()) return;
  }
}

TEST(choice, among_very_many_candidates_is_the_same_with_any_number_of_threads_release_only) {
  const edges graph = oracle::make_random_graph(5, 3000, 40000);
  const std::string text =
      ".decl e(x:number, y:number)\n.decl tree(x:number, y:number) choice-domain y\ntree(0,0).\n"
      "tree(x,y) :- tree(_,x), e(x,y).\n.decl pair(x:number, y:number) choice-domain x, y\n"
      "pair(x,z) :- e(x,y), e(y,z).\n";
  running_program first(text, modes[0], graph);
  const rows_of_words tree = first.rows("tree");
  const rows_of_words pair = first.rows("pair");
  EXPECT_GT(tree.size(), 2900U);
  for (const mode& how : modes) {
    running_program running(text, how, graph);
    EXPECT_EQ(running.rows("tree"), tree) << how.name;
    EXPECT_EQ(running.rows("pair"), pair) << how.name;
  }
}

}  // namespace
}  // namespace gpulog
