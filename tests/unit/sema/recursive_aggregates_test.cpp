// Which aggregates may read the recursion that they are part of, and what becomes of them.

#include <gtest/gtest.h>

#include <string>

#include "unit/sema/analysed_text.hpp"

namespace gpulog {
namespace {

const std::string graph =
    ".decl edge(x:number, y:number, w:number)\n.decl node(x:number)\n.decl dist(y:number, d:number)\n";

bool accepts(const std::string& rules) {
  const analysed_text text(graph + rules);
  EXPECT_TRUE(text.accepted() || text.report.to_string().find("Unable to stratify") != std::string::npos)
      << text.report.to_string();
  return text.accepted();
}

/// What the report says beside the message that Soufflé has too.
std::string refusal(const std::string& rules) {
  const analysed_text text(graph + rules);
  if (text.accepted()) return "accepted";
  const std::string report = text.report.to_string();
  EXPECT_NE(report.find("Unable to stratify"), std::string::npos) << report;
  EXPECT_NE(report.find("has cyclic aggregation"), std::string::npos) << report;
  return report;
}

#define EXPECT_REFUSED(rules, reason)                                          \
  {                                                                            \
    const std::string said = refusal(rules);                                   \
    EXPECT_NE(said.find(reason), std::string::npos) << rules << ":\n" << said; \
  }

TEST(recursive_aggregates, least_values_become_rules_with_a_subsumption) {
  const analysed_text text(graph + "dist(0,0).\ndist(y,d) :- node(y), d = min c + w : { dist(x,c), edge(x,y,w) }.\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const sema::relation& dist = (*text.program)[text.relation("dist")];
  ASSERT_EQ(dist.subsumptions.size(), 1U);
  EXPECT_EQ(text.program->subsumptions[dist.subsumptions.front()].text, "dist(y,d) <= dist(y,_better) :- _better < d.");
  const sema::rule& rule = (*text.program)[dist.rules.front()];
  for (const sema::literal& part : rule.body) EXPECT_FALSE(std::holds_alternative<sema::aggregate>(part));
  EXPECT_NE(rule.text.find("min"), std::string::npos) << rule.text;  // as written
}

TEST(recursive_aggregates, monotone_forms_are_accepted) {
  EXPECT_TRUE(accepts("dist(y,min c : { dist(x,c), edge(x,y,_) }) :- node(y)."));
  EXPECT_TRUE(accepts("dist(y,d) :- node(y), d = min c : { dist(x,b), edge(x,y,w), c = max(b,w) * 2 - 7 }."));
  EXPECT_TRUE(accepts("dist(y,d) :- node(y), d = min c / 2 : { dist(x,c), edge(x,y,_), c < 100, !edge(y,x,_) }."));
  EXPECT_TRUE(accepts("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }, d < 10, node(e), d <= e."));
  EXPECT_TRUE(accepts("dist(y,d) :- node(y), d = max c : { dist(x,c), edge(x,y,_), c > 1 }, d >= 10."));
  EXPECT_TRUE(accepts("dist(y,d) :- edge(y,_,b), d = min w - b : { dist(x,_), edge(x,y,w) }."));
  EXPECT_TRUE(
      accepts(".decl r(x:number)\nr(x) :- dist(x,_).\nr(x) :- dist(x,c), c < 3.\n"
              "dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_), r(x) }."));
  EXPECT_TRUE(accepts("dist(y,d) :- node(y), d = min c + n : { dist(x,c), edge(x,y,_), n = count : edge(y,_,_) }."));
}

TEST(recursive_aggregates, counts_and_sums_are_accepted_above_a_bound) {
  const std::string on = ".decl on(x:number)\non(0).\n";
  EXPECT_TRUE(accepts(on + "on(x) :- node(x), 2 <= count : { edge(x,y,_), on(y) }."));
  EXPECT_TRUE(accepts(on + "on(x) :- node(x), n = count : { on(_) }, n > 0, n >= x."));
  EXPECT_TRUE(accepts(on + "on(x) :- dist(x,n), n > 0, count : { edge(x,y,_), on(y) } >= n."));
  EXPECT_TRUE(accepts(on + "on(x) :- node(x), s = sum w : { edge(x,y,w), on(y), w >= 0 }, s > 50."));
  EXPECT_TRUE(accepts(on + "on(x) :- node(x), 3 < sum 2 : { edge(x,y,_), on(y) }."));
  EXPECT_TRUE(accepts(on + "on(x) :- node(x), 3u < sum to_unsigned(w) : { edge(x,y,w), on(y) }."));
  EXPECT_REFUSED(on + "on(x) :- node(x), 0 <= count : { edge(x,y,_), on(y) }.", "positive lower bound");
  EXPECT_REFUSED(on + "on(x) :- node(x), count : { edge(x,y,_), on(y) } >= x.", "positive lower bound");
  EXPECT_REFUSED(on + "on(x) :- node(x), count : { edge(x,y,_), on(y) } < 3.", "positive lower bound");
  EXPECT_REFUSED(on + "on(x) :- node(x), 3 = count : { edge(x,y,_), on(y) }.", "positive lower bound");
  EXPECT_REFUSED(on + "on(n) :- n = count : { on(_) }, n > 0.", "Relation on would keep");
  EXPECT_REFUSED(on + "on(x) :- node(x), 50 < sum w : { edge(x,y,w), on(y) }.", "not known to be positive");
  EXPECT_REFUSED(on + "on(x) :- node(x), 50 < sum w : { edge(x,y,w), on(y), w > -1 }.", "not known to be positive");
  EXPECT_REFUSED(on + "on(x) :- node(x), 2 < count : { edge(x,y,_), on(y), 1 < count : edge(y,_,_) }.",
                 "contains an aggregate");
}

/// Whether the best values of dist come first.
bool has_priority_delta(const std::string& rules) {
  const analysed_text text(graph + rules);
  EXPECT_TRUE(text.accepted()) << text.report.to_string();
  return text.accepted() && (*text.program)[text.relation("dist")].priority_delta;
}

TEST(recursive_aggregates, subsumptions_like_them_are_recognised) {
  const std::string least = "dist(x,d) <= dist(x,e) :- e < d.\n";
  EXPECT_TRUE(has_priority_delta("dist(y,d) :- node(y), d = min c + w : { dist(x,c), edge(x,y,w) }."));
  EXPECT_TRUE(has_priority_delta(least + "dist(y,c+w) :- dist(x,c), edge(x,y,w)."));
  EXPECT_TRUE(has_priority_delta("dist(x,d) <= dist(x,e) :- d >= e. dist(y,c+w) :- dist(x,c), edge(x,y,w), c < 5."));
  EXPECT_TRUE(has_priority_delta("dist(x,d) <= dist(x,e) :- d <= e. dist(y,c-w) :- dist(x,c), edge(x,y,w), c > 5."));
  EXPECT_FALSE(has_priority_delta(least + "dist(y,c+w) :- dist(x,c), edge(x,y,w), c > 5."));
  EXPECT_FALSE(has_priority_delta(least + "dist(y,c+w) :- dist(x,c), edge(x,y,w), node(c)."));
  EXPECT_FALSE(
      has_priority_delta(least + "dist(y,c+w) :- dist(x,c), edge(x,y,w), to_unsigned(c) < recursive_iteration_cnt()."));
  EXPECT_FALSE(has_priority_delta(least + "dist(y,c+w) :- dist(x,c), edge(x,y,w).\n.limitsize dist(n=5)"));
  EXPECT_FALSE(
      has_priority_delta(least + "dist(x,d) <= dist(x,e) :- e = d - 1, node(d). dist(y,c) :- dist(x,c), edge(x,y,_)."));
  EXPECT_FALSE(has_priority_delta(least + ".decl seen(x:number, d:number)\nseen(x,d) :- dist(x,d), node(x).\n"
                                          "dist(y,c) :- seen(x,c), edge(x,y,_)."));
}

TEST(recursive_aggregates, best_values_come_first_where_better_ones_are_not_made_of_them) {
  const auto of_least = [](const std::string& value) {
    return has_priority_delta("dist(y,d) :- node(y), d = min " + value + " : { dist(x,c), edge(x,y,w) }.");
  };
  for (const char* value : {"c", "c + w", "w + c", "c + 1", "c - w", "c - -1", "max(c,w)", "max(c,w) + c", "min(c,w)",
                            "c * 2", "c / 2", "to_number(to_float(c))"})
    EXPECT_TRUE(of_least(value)) << value;
  for (const char* value : {"c + -1", "-1 + c", "c - 1", "max(c - 1, w)", "(c - 1) * 2"})
    EXPECT_FALSE(of_least(value)) << value;

  const auto of_greatest = [](const std::string& value) {
    return has_priority_delta("dist(y,d) :- node(y), d = max " + value + " : { dist(x,c), edge(x,y,w) }.");
  };
  for (const char* value : {"c", "c - w", "c - 1", "c + -1", "c + 0", "min(c,w)", "min(c,w) - 3"})
    EXPECT_TRUE(of_greatest(value)) << value;
  for (const char* value :
       {"c + w", "w + c", "c + 1", "c - -1", "c + c", "max(c,w)", "c * 2", "c / 2", "min(c + w, 9)"})
    EXPECT_FALSE(of_greatest(value)) << value;
}

TEST(recursive_aggregates, best_values_come_first_by_what_defined_variables_are_made_of) {
  const std::string greatest = "dist(x,d) <= dist(x,e) :- d < e.\n";
  EXPECT_TRUE(has_priority_delta(greatest + "dist(y,d) :- dist(x,c), edge(x,y,w), d = e - 1, e = min(c,w)."));
  EXPECT_FALSE(has_priority_delta(greatest + "dist(y,d) :- dist(x,c), edge(x,y,w), d = min(e,9), e = c + w."));
  EXPECT_FALSE(
      has_priority_delta(greatest + "dist(y,c) :- dist(x,c), edge(x,y,_). dist(y,c+w) :- dist(x,c), edge(x,y,w)."));
  EXPECT_FALSE(has_priority_delta("dist(y,d) :- node(y), d = max e : { dist(x,c), edge(x,y,w), e = c + w }."));
  EXPECT_TRUE(has_priority_delta(greatest + "dist(y,w) :- edge(_,y,w). dist(y,x+w) :- dist(x,_), edge(x,y,w)."));
}

TEST(recursive_aggregates, products_with_at_most_one_are_no_better) {
  const auto of_greatest = [](const std::string& value) {
    const analysed_text text(graph +
                             ".decl likely(x:number, p:float)\nlikely(x,p) <= likely(x,q) :- p < q.\nlikely(y," +
                             value + ") :- likely(x,p), edge(x,y,_).");
    EXPECT_TRUE(text.accepted()) << text.report.to_string();
    return text.accepted() && (*text.program)[text.relation("likely")].priority_delta;
  };
  EXPECT_TRUE(of_greatest("p * 0.5"));
  EXPECT_TRUE(of_greatest("1.0 * p"));
  EXPECT_TRUE(of_greatest("p - 0.5"));
  EXPECT_FALSE(of_greatest("p * 1.5"));
  EXPECT_FALSE(of_greatest("p + 0.5"));
}

TEST(recursive_aggregates, others_are_refused_with_a_reason) {
  EXPECT_REFUSED("dist(y,d) :- node(y), d = sum c : { dist(x,c), edge(x,y,_) }.", "not known to be positive");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = count : { dist(x,_), edge(x,y,_) }.", "needs names");
  const std::string pairs = ".type pair = [a:number, b:number]\n.decl on(p:pair)\n";
  EXPECT_REFUSED(pairs + "on([x,x]) :- node(x), 2 <= count : { edge(x,y,_), on([y,_]) }.", "needs names");
  EXPECT_TRUE(accepts(pairs + "on([x,x]) :- node(x), 2 <= count : { edge(x,y,_), on([y,z]) }."));
  EXPECT_REFUSED("dist(y,to_number(d)) :- node(y), d = mean to_float(c) : { dist(x,c), edge(x,y,_) }.",
                 "Only min, max");
  // The result is not a column by itself.
  EXPECT_REFUSED("dist(y,d+1) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.", "by itself");
  EXPECT_REFUSED("dist(d,y) :- node(y), 0 < min c : { dist(x,c), edge(x,y,_) }, edge(y,d,_).",
                 "fail for a better value");
  // What gets better elsewhere may get worse here.
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min w - c : { dist(x,c), edge(x,y,w) }.", "may rise");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = max -c : { dist(x,c), edge(x,y,_) }.", "may fall");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c * w : { dist(x,c), edge(x,y,w) }.", "may rise");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c % 5 : { dist(x,c), edge(x,y,_) }.", "may rise");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.\ndist(y,3-c) :- dist(y,c).",
                 "may get worse");
  // Tests and searches that tell a value from a better one.
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_), c > 3 }.", "fail for a better value");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_), c != 3 }.", "fail for a better value");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }, d > 3.", "fail for a better value");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }, node(d).", "searched");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,c) }.", "an atom");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_), !node(c) }.", "an atom");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min x : { dist(x,3), edge(x,y,_) }.", "compared for equality");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_), c = count : node(_), c < 9 }.",
                 "for equality");
  EXPECT_REFUSED(
      "dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_), node(z), 3 < count : { node(u), u < c + z } }.",
      "another aggregate uses it");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min z : { dist(x,c), edge(x,y,_), z = range(0,c) }.", "range");
  // Other relations and columns would keep values that were not final.
  EXPECT_REFUSED(
      ".decl r(x:number, c:number)\nr(x,c) :- dist(x,c).\n"
      "dist(y,d) :- node(y), d = min c : { r(x,c), edge(x,y,_) }.",
      "Relation r would keep");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.\ndist(c,0) :- dist(_,c).",
                 "another column");
  EXPECT_REFUSED(
      "dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.\n"
      "dist(d,y) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.",
      "Another column");
  EXPECT_REFUSED(
      "dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.\n"
      "dist(y,d) :- node(y), d = max c : { dist(x,c), edge(x,y,_) }.",
      "another aggregate");
  // A witness: y is where the least value of all is.
  EXPECT_REFUSED("dist(y,d) :- d = min c : { dist(x,c), edge(x,y,_) }.", "Unable to stratify");
  EXPECT_REFUSED(".decl s(x:number)\ns(x) :- node(x).\ns(c) :- c = min x : s(x).", "no column beside");
  EXPECT_REFUSED("dist(y,d) :- node(y), d = min c : { dist(x,c), edge(x,y,_) }.\ndist(y,a) <= dist(y,b) :- b < a.",
                 "subsumptive rules of its own");
  EXPECT_REFUSED(
      ".decl one(x:number, c:number) choice-domain x\n"
      "one(y,d) :- node(y), d = min c : { one(x,c), edge(x,y,_) }.",
      "choice-domain");
}

}  // namespace
}  // namespace gpulog
