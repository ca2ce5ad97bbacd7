#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "plan/explain.hpp"
#include "plan/validate.hpp"
#include "plan_from_text.hpp"
#include "plan_interpreter.hpp"

namespace gpulog::plan {
namespace {

/// Runs the plan of a program and compares every relation with the naive evaluation of the rules.
/// @return false if the results cannot be compared
bool check_against_oracle(const std::string& text, const options& chosen) {
  const analysed_text analysed = analyse_text(text);
  oracle::database expected(analysed.program);
  try {
    oracle::evaluate(analysed.program, expected);
  } catch (const oracle::evaluation_error&) {
    return false;
  }
  const program plan = make_plan(analysed.program, {}, chosen);
  EXPECT_EQ(validate(plan), std::vector<std::string>()) << text;
  plan_interpreter interpreter(plan);
  interpreter.run();
  if (interpreter.gave_up()) return false;
  for (std::uint32_t number = 0; number < analysed.program.relations.size(); ++number) {
    const std::set<std::vector<wide_word>> result = interpreter.tuples(relation_id(number));
    EXPECT_EQ(result, expected[relation_id(number)]) << analysed.program.relations[number].name << " differs in\n"
                                                     << text << "\n"
                                                     << explain(plan);
    if (result != expected[relation_id(number)]) break;
  }
  return true;
}

const options with_supplementary{.makes_relations = true};
const options without_supplementary{.makes_relations = false};
const options with_restriction{.modes = {{"magic-sets", tuning_mode::always}}};

TEST(equivalence, random_programs_have_the_results_of_naive_evaluation) {
  oracle::random_program_options shape;
  shape.symbols = false;
  std::uint64_t compared = 0;
  constexpr std::uint64_t programs = oracle::fewer_when_sanitized(400);
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + programs && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = oracle::make_random_program(seed, shape).text;
    if (check_against_oracle(text, with_supplementary)) ++compared;
    check_against_oracle(text, without_supplementary);
  }
  EXPECT_GT(compared, programs / 2);
}

bool is_restricted(const program& plan) {
  return std::any_of(plan.remarks.begin(), plan.remarks.end(), [](const std::string& remark) {
    return remark.find("that the recursion reads (") != std::string::npos;
  });
}

TEST(equivalence, random_programs_with_magic_sets_release_only) {
  oracle::random_program_options shape;
  shape.symbols = false;
  shape.guards = 70;
  shape.layers = 2;
  shape.largest_arity = 3;
  std::size_t restricted = 0;
  constexpr std::uint64_t programs = oracle::fewer_when_sanitized(1500);
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + programs && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = oracle::make_random_program(seed, shape).text;
    const program plan = plan_text(text, with_restriction);
    if (!is_restricted(plan) || !check_against_oracle(text, with_restriction)) continue;
    ++restricted;
  }
  EXPECT_GT(restricted, programs / 15);
}

std::string edges_text(const std::string& relation, std::uint64_t seed, std::uint32_t nodes, std::uint32_t edges) {
  std::string text = ".decl " + relation + "(x:number, y:number)\n";
  for (const auto& [from, to] : oracle::make_random_graph(seed, nodes, edges)) {
    text += relation + "(" + std::to_string(from) + "," + std::to_string(to) + ").\n";
  }
  return text;
}

const char* const recursive_rules[] = {
    // Three forms of reachability.
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n",
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- e(x,z), r(z,y).\n",
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- r(x,z), r(z,y).\n",
    // Same generation.
    ".decl r(x:number, y:number)\nr(x,y) :- e(p,x), e(p,y), x != y.\nr(x,y) :- e(a,x), r(a,b), e(b,y), x != y.\n",
    // The points-to analysis of the paper.
    ".decl vf(x:number, y:number)\n.decl va(x:number, y:number)\n.decl ma(x:number, y:number)\n"
    "vf(y,x) :- e(y,x).\nvf(x,x) :- e(x,_).\nvf(x,x) :- e(_,x).\nma(x,x) :- e(_,x).\nma(x,x) :- e(x,_).\n"
    "vf(x,y) :- vf(x,z), vf(z,y).\nva(x,y) :- vf(z,x), vf(z,y).\nvf(x,y) :- e(x,z), ma(z,y).\n"
    "ma(x,w) :- d(y,x), va(y,z), d(z,w).\nva(x,y) :- vf(z,x), ma(z,w), vf(w,y).\n",
    // Four recursive atoms, two of them equal.
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,v) :- r(x,y), r(y,z), r(z,w), d(w,v).\n",
    // Three atoms with a test of a variable that a step drops, and a repeated variable.
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,w) :- r(y,x), y < 5, d(y,z), r(z,w), !d(w,w).\n",
    // Two rules with the same end.
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- d(z,x), r(z,w), e(w,y).\nr(x,y) :- r(z,x), e(z,y).\n",
    // A step that two rules share; a third rule has the same end as one of the two rules.
    ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,y) :- d(x,y).\n"
    "r(x,y) :- s(z,x), r(z,w), e(w,y).\ns(x,y) :- s(z,x), r(z,w), r(w,y).\nr(x,y) :- s(x,w), e(w,y).\n",
    // The same end, joined with the beginning by more columns than the step has.
    ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,y) :- d(x,y).\n"
    "r(x,y) :- s(z,x), r(z,w), e(w,y).\nr(x,y) :- s(x,w), d(w,y), e(w,y).\ns(x,y) :- r(y,x).\n",
    // The same end, except that two variables are equal.
    ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,y) :- d(x,y).\n"
    "r(x,y) :- s(z,x), r(z,w), e(w,y), d(w,u).\nr(x,y) :- s(x,w), e(w,y), d(w,y).\ns(x,y) :- r(y,x), e(x,_).\n",
    // Mutual recursion; .plan chooses the position of the delta.
    ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,y) :- d(x,y).\n"
    "r(x,y) :- s(x,z), r(z,y), e(y,_).\n.plan 0:(2,3,1), 1:(3,1,2)\ns(x,y) :- r(x,z), s(z,w), r(w,y).\n",
    // Relations read at few keys: by constants and by several relations; after a chain of restrictions; by
    // a relation that reads itself at given values and at a value from its own head.
    ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\n.decl t(x:number, y:number)\nr(x,y) :- e(x,y).\n"
    "s(x,y) :- r(z,x), t(z,w), e(w,y).\ns(3,y) :- r(y,y).\nt(x,y) :- r(x,z), d(z,y).\n"
    "r(x,y) :- s(2,x), d(x,y).\nr(x,y) :- d(x,z), s(z,y), e(z,_), e(y,_).\nr(y,x) :- t(x,y), e(x,x), d(y,_).\n",
    ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,y) :- r(x,y), d(x,_).\n"
    "s(x,y) :- s(x,z), e(z,w), r(w,y).\ns(x,y) :- s(z,y), r(z,x), d(z,_).\nr(x,y) :- d(x,z), s(z,y), e(y,_).\n",
    // Existence of a delta, and atoms of constants.
    ".decl r(x:number, y:number)\n.decl q(x:number)\n.decl p()\nr(x,y) :- e(x,y).\nr(y,x) :- r(x,y), q(1), p().\n"
    "q(x) :- r(x,_), d(x,x).\nq(1) :- r(2,_).\np() :- q(_).\nr(x,x) :- p(), e(x,_), r(3,_).\n",
};

TEST(equivalence, recursive_rules_on_random_graphs_release_only) {
  for (const char* rules : recursive_rules) {
    for (std::uint64_t seed = 1; seed <= 12; seed += oracle::is_sanitized ? 4 : 1) {
      const std::uint32_t nodes = 2 + static_cast<std::uint32_t>(seed);
      const std::string text =
          edges_text("e", seed, nodes, nodes + 3) + edges_text("d", seed + 100, nodes, nodes) + rules;
      EXPECT_TRUE(check_against_oracle(text, with_supplementary));
      EXPECT_TRUE(check_against_oracle(text, without_supplementary));
      EXPECT_TRUE(check_against_oracle(text, with_restriction));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Rules over two recursive relations with bodies of two to four atoms over few variables: steps to factor, shared
/// steps and common ends are frequent.
std::string random_recursive_rules(std::mt19937& random) {
  const auto pick = [&random](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  std::string text = ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,y) :- d(x,y).\n";
  const char* const relations[] = {"r", "s", "e", "d", "r"};
  const std::uint32_t rules = 2 + pick(3);
  for (std::uint32_t rule = 0; rule < rules; ++rule) {
    const std::uint32_t atoms = 2 + pick(3);
    std::vector<std::string> variables;
    std::string body;
    std::string end;  // what follows the first two atoms
    std::string last = "v0";
    for (std::uint32_t atom = 0; atom < atoms; ++atom) {
      // Mostly a chain; sometimes any variable, a constant or `_`.
      const std::string next = pick(6) == 0 ? "v" + std::to_string(pick(atom + 1)) : "v" + std::to_string(atom + 1);
      std::string other = last;
      const std::uint32_t unusual = pick(20);
      if (unusual == 0 && atom > 0) other = "_";
      if (unusual == 1 && atom > 0) other = std::to_string(pick(4));
      const bool swapped = pick(3) == 0;
      const std::string made =
          relations[pick(5)] + ("(" + (swapped ? next : other)) + "," + (swapped ? other : next) + ")";
      body += (atom == 0 ? "" : ", ") + made;
      if (atom >= 2) end += ", " + made;
      variables.push_back(last);
      variables.push_back(next);
      last = next;
    }
    const std::string any = variables[pick(static_cast<std::uint32_t>(variables.size()))];
    if (pick(4) == 0) body += ", " + any + " != " + variables.front();
    if (pick(6) == 0) body += ", !d(" + any + "," + variables.back() + ")";
    if (pick(8) == 0) body += ", " + any + " + 1 = w, e(w,_)";
    const std::string first = pick(5) == 0 ? any : variables.front();
    const std::string head = std::string(pick(2) == 0 ? "r" : "s") + "(" + first + "," + variables.back() + ") :- ";
    text += head + body + ".\n";
    // Another rule with the same end; if the end does not bind `first`, the rule begins with an atom that binds
    // `first`.
    if (!end.empty() && pick(2) == 0) {
      const std::string between = pick(4) == 0 ? "v1" : "v2";
      text += head + relations[pick(5)] + "(" + first + "," + between + ")" + end;
      text += ", e(" + variables.back() + ",_)";
      if (pick(2) == 0) text.resize(text.rfind(", e("));
      text += ".\n";
    }
  }
  return text;
}

TEST(equivalence, random_recursive_rules_with_supplementary_relations) {
  std::mt19937 random(static_cast<unsigned>(oracle::first_seed(2024)));
  int with_steps = 0;
  int with_merges = 0;
  int restricted = 0;
  constexpr auto rounds = static_cast<int>(oracle::fewer_when_sanitized(300));
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const std::uint32_t nodes = 3 + static_cast<std::uint32_t>(round % 4);
    const auto seed = static_cast<std::uint64_t>(round);
    const std::string text = edges_text("e", seed, nodes, nodes + 2) + edges_text("d", seed + 1000, nodes, nodes) +
                             random_recursive_rules(random);
    EXPECT_TRUE(check_against_oracle(text, with_supplementary));
    EXPECT_TRUE(check_against_oracle(text, without_supplementary));
    EXPECT_TRUE(check_against_oracle(text, with_restriction));
    restricted += is_restricted(plan_text(text, with_restriction)) ? 1 : 0;
    const program plan = plan_text(text);
    for (const relation& made : plan.relations) with_steps += made.supplementary ? 1 : 0;
    for (const std::string& remark : plan.remarks)
      with_merges += remark.find("also the first joins") != remark.npos ? 1 : 0;
  }
  EXPECT_GT(with_steps, rounds / 3);
  EXPECT_GT(with_merges, rounds / 100);
  EXPECT_GT(restricted, rounds / 6);
}

TEST(equivalence, each_combination_of_rows_is_found_once) {
  // The head has all variables: a combination that is found twice is a candidate twice.
  const std::string text = edges_text("e", 7, 8, 16) +
                           ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n"
                           "r(x,y) :- t(x,y,_,_).\n"
                           ".decl t(x:number, y:number, z:number, w:number)\nt(x,y,z,w) :- r(x,y), r(y,z), r(z,w).\n";
  const analysed_text analysed = analyse_text(text);
  const program plan = make_plan(analysed.program, {}, without_supplementary);
  plan_interpreter interpreter(plan);
  interpreter.run();
  const relation_id t = *analysed.program.find_relation("t");
  EXPECT_EQ(interpreter.candidates(t), interpreter.tuples(t).size());
}

}  // namespace
}  // namespace gpulog::plan
