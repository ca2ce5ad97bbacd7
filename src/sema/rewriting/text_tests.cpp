#include "sema/rewriting/text_tests.hpp"

#include <string>
#include <unordered_set>
#include <utility>

#include "sema/rewriting/syntax_walk.hpp"

namespace gpulog::sema {

namespace {

using relation_names = std::unordered_set<std::string>;

void collect_relations(const std::vector<syntax::item>& items, relation_names& declared) {
  for (const syntax::item& item : items) {
    if (const auto* declaration = item.as<syntax::relation_declaration>()) {
      for (const syntax::identifier& name : declaration->names) declared.insert(name.text);
    }
    if (const auto* component = item.as<syntax::component>()) collect_relations(component->items, declared);
  }
}

class test_rewriter {
 public:
  explicit test_rewriter(const relation_names& declared) : declared_(declared) {}

  void rewrite(std::vector<syntax::item>& items) const {
    for (syntax::item& item : items) {
      if (auto* clause = item.as<syntax::clause>()) {
        for (syntax::atom& head : clause->heads) rewrite_aggregates(head);
        rewrite(clause->body);
      }
      if (auto* subsumption = item.as<syntax::subsumption>()) rewrite(subsumption->body);
      if (auto* component = item.as<syntax::component>()) rewrite(component->items);
    }
  }

  void rewrite(std::vector<syntax::conjunction>& body) const {
    rewrite_literals(body);
    rewrite_aggregates(body);
  }

 private:
  template <class Node>
  void rewrite_aggregates(Node& node) const {
    walk_terms(node, [this](syntax::argument& term) {
      if (auto* aggregate = term.as<syntax::aggregate>()) rewrite_literals(aggregate->body);
      return true;
    });
  }

  /// Rewrites the literals outside aggregates.
  void rewrite_literals(std::vector<syntax::conjunction>& alternatives) const {
    for (syntax::conjunction& conjunction : alternatives) {
      for (syntax::literal& part : conjunction) rewrite(part);
    }
  }

  void rewrite(syntax::literal& part) const {
    if (auto* negation = part.as<syntax::negation>()) rewrite(*negation->inner);
    if (auto* group = part.as<syntax::group>()) rewrite_literals(group->alternatives);
    auto* const atom = part.as<syntax::atom>();
    if (atom == nullptr || declared_.contains(atom->name.text)) return;
    const auto op = syntax::extension_named(atom->name.text);
    if (!op || !syntax::is_test(*op)) return;
    const syntax::place span = atom->span;
    syntax::functor_call call{*op, {std::move(atom->arguments)}};
    part.value = syntax::constraint{syntax::constraint_op::not_equal,
                                    {std::move(call), span},
                                    {syntax::numeric_constant{"0", syntax::numeric_form::untyped}, span}};
  }

  const relation_names& declared_;
};

}  // namespace

void replace_text_tests(syntax::program& program, std::vector<syntax::query>& queries) {
  relation_names declared;
  collect_relations(program.items, declared);
  const test_rewriter rewriter(declared);
  if (program.may_have_text_tests) rewriter.rewrite(program.items);
  for (syntax::query& query : queries) rewriter.rewrite(query.body);
}

}  // namespace gpulog::sema
