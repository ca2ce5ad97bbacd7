#include "sema/components/components.hpp"

#include <gtest/gtest.h>

#include "evaluated_text.hpp"

namespace gpulog {
namespace {

using lines = std::vector<std::string>;

std::string report_of(const std::string& program) {
  const analysed_text text(program);
  return text.accepted() ? "accepted" : text.report.to_string();
}

TEST(components, instances_have_relations_and_types_of_their_own) {
  const std::string program =
      ".comp C<T> { .type K <: T .decl r(x:K) .decl s(x:T) s(x) :- r(x). }\n"
      ".init a = C<number>\n.init b = C<symbol>\na.r(1).\nb.r(\"x\").\nb.r(as(\"y\", b.K)).\n";
  EXPECT_EQ(result_of(program, "a.s"), lines{"1"});
  EXPECT_EQ(result_of(program, "b.s"), (lines{"x", "y"}));
  EXPECT_TRUE(mentions(report_of(program + "a.r(x) :- b.r(y), x = as(y, b.K).\n"), "type"));
}

TEST(components, names_are_looked_up_from_the_inside_to_the_outside) {
  const std::string program =
      ".decl base(x:number)\nbase(0).\n.decl seen(x:number)\nseen(100).\n"
      ".comp Inner { .decl out(x:number) out(x) :- base(x). out(x) :- seen(x). }\n"
      ".comp Outer { .decl seen(x:number) seen(7). .init in = Inner in.out(8). }\n"
      ".init o = Outer\n";
  EXPECT_EQ(result_of(program, "o.in.out"), (lines{"0", "7", "8"}));
}

TEST(components, overridden_relations_lose_the_rules_of_their_bases_only) {
  const std::string program =
      ".comp A { .decl r(x:number) overridable r(1). .decl s(x:number) s(x) :- r(x). }\n"
      ".comp B : A { .override r r(2). }\n.comp C : B { r(3). }\n"
      ".init a = A\n.init b = B\n.init c = C\n";
  EXPECT_EQ(result_of(program, "a.s"), lines{"1"});
  EXPECT_EQ(result_of(program, "b.s"), lines{"2"});
  EXPECT_EQ(result_of(program, "c.s"), (lines{"2", "3"}));
}

TEST(components, parameters_name_bases_and_nested_components) {
  const std::string program =
      ".comp S { .decl lim(n:number) lim(3). }\n"
      ".comp G<L> : L { .decl v(n:number) v(0). v(n+1) :- v(n), lim(m), n < m. }\n"
      ".comp W<T> { .init inner = T .decl copy(n:number) copy(n) :- inner.lim(n). }\n"
      ".init g = G<S>\n.init w = W<S>\n";
  EXPECT_EQ(result_of(program, "g.v"), (lines{"0", "1", "2", "3"}));
  EXPECT_EQ(result_of(program, "w.copy"), lines{"3"});
}

TEST(components, a_nested_component_may_inherit_from_one_of_an_outer_base) {
  const std::string program =
      ".comp A { .comp N { .decl r(x:number) r(1). } }\n.comp B : A { .comp M : N { r(2). } .init m = M }\n.init b = "
      "B\n";
  EXPECT_EQ(result_of(program, "b.m.r"), (lines{"1", "2"}));
}

TEST(components, wrong_uses_are_errors) {
  EXPECT_TRUE(mentions(report_of(".init a = Nothing\n"), "undefined component Nothing"));
  EXPECT_TRUE(mentions(report_of(".comp Box<T> { .decl v(x:T) }\n.init b = Box<number, symbol>\n"), "type parameters"));
  EXPECT_TRUE(mentions(report_of(".comp A : B { }\n.comp B : A { }\n"), "cycle"));
  EXPECT_TRUE(mentions(report_of(".comp A { .decl r(x:number) }\n.comp B : A { .override r }\n"), "non-overridable"));
  EXPECT_TRUE(mentions(report_of(".comp A { }\n.comp B : A { .override r }\n"), "non-existing"));
  EXPECT_TRUE(mentions(report_of(".comp A { }\n.comp A { }\n"), "Redefinition of component A"));
  EXPECT_TRUE(mentions(report_of(".comp A { }\n.init a = A\n.init a = A\n"), "Redefinition of component instance a"));
  EXPECT_TRUE(mentions(report_of(".comp A { .decl r(x:number) q(1). }\n.init a = A\n"), "Undefined relation q"));
}

TEST(components, definitions_are_checked_without_instances) {
  EXPECT_TRUE(mentions(report_of(".comp A { .init x = B }\n"), "Referencing undefined component B"));
  EXPECT_TRUE(mentions(report_of(".comp B<T> { }\n.comp A { .init x = B }\n"), "Component B has 1 type parameters"));
  EXPECT_TRUE(mentions(report_of(".comp B<T> { }\n.comp A : B { }\n"), "Component B has 1 type parameters"));
  EXPECT_TRUE(
      mentions(report_of(".comp A { .comp I { .init x = B<number> } }\n"), "Referencing undefined component B"));
  EXPECT_EQ(report_of(".comp A<T> { .init x = T }\n.comp O { .comp I { } }\n.comp P : O { .init x = I }\n"
                      ".comp Q<T> : T { .init x = Unknown }\n"),
            "accepted");
  // Once, though there are instances.
  const analysed_text text(".comp A { .init x = B }\n.init a = A\n.init b = A\n");
  EXPECT_EQ(text.report.error_count(), 1U) << text.report.to_string();
}

TEST(components, instances_of_one_name_are_one) {
  const std::string program =
      ".comp D { .decl r(x:number) r(1). }\n.comp E { .decl s(x:number) s(2). }\n"
      ".comp A { .init i = D }\n.comp B : A { .init i = E .decl t(x:number) t(x) :- i.r(x). t(x) :- i.s(x). }\n"
      ".init b = B\n";
  EXPECT_EQ(result_of(program, "b.t"), (lines{"1", "2"}));
  EXPECT_TRUE(mentions(report_of(".comp D { .decl r(x:number) }\n.comp A { .init i = D }\n.comp B : A { .init i = D }\n"
                                 ".init b = B\n"),
                       "Redefinition of relation b.i.r"));
}

TEST(components, errors_that_would_follow_are_not_reported) {
  const std::string report = report_of(".init a = Nothing\n.decl r(x:number)\nr(x) :- a.q(x), !r(y).\n");
  EXPECT_TRUE(mentions(report, "undefined component Nothing"));
  EXPECT_TRUE(mentions(report, "1 errors generated")) << report;
}

TEST(components, endless_instances_are_errors) {
  EXPECT_TRUE(mentions(report_of(".comp A { .init x = A .init y = A }\n.init a = A\n"), "instantiates itself"));
  std::string doubling = ".comp C0 { .decl r(x:number) }\n";
  std::string inheriting = ".comp D0 { }\n";
  for (int number = 1; number < 60; ++number) {
    const std::string below = std::to_string(number - 1);
    doubling += ".comp C" + std::to_string(number) + " { .init x = C" + below + " .init y = C" + below + " }\n";
    inheriting += ".comp D" + std::to_string(number) + " : D" + below + ", D" + below + " { }\n";
  }
  EXPECT_TRUE(mentions(report_of(doubling + ".init c = C59\n"), "too large"));
  EXPECT_TRUE(mentions(report_of(inheriting + ".init d = D59\n"), "too large"));
}

}  // namespace
}  // namespace gpulog
