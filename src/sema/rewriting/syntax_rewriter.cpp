#include "sema/rewriting/syntax_rewriter.hpp"

namespace gpulog::sema {

void syntax_rewriter::rewrite(syntax::identifier& name, const renaming& rename) const {
  syntax::qualified_name qualified{name.text, name.span};
  rename(qualified);
  name.text = std::move(qualified.text);
}

void syntax_rewriter::rewrite(std::vector<syntax::attribute>& attributes) const {
  for (syntax::attribute& attribute : attributes) type_(attribute.type);
}

void syntax_rewriter::rewrite(syntax::clause& clause) const {
  for (syntax::atom& head : clause.heads) rewrite(head);
  rewrite(clause.body);
}

void syntax_rewriter::rewrite(syntax::subsumption& subsumption) const {
  rewrite(subsumption.dominated);
  rewrite(subsumption.dominating);
  rewrite(subsumption.body);
}

void syntax_rewriter::rewrite(syntax::relation_declaration& declaration) const {
  for (syntax::identifier& name : declaration.names) rewrite(name, relation_);
  if (declaration.debug_delta_of) rewrite(*declaration.debug_delta_of, relation_);
  rewrite(declaration.attributes);
}

void syntax_rewriter::rewrite(syntax::type_declaration& declaration) const {
  rewrite(declaration.name, type_);
  if (auto* subtype = std::get_if<syntax::subtype_definition>(&declaration.definition)) type_(subtype->base);
  if (auto* alias = std::get_if<syntax::alias_definition>(&declaration.definition)) type_(alias->target);
  if (auto* set = std::get_if<syntax::union_definition>(&declaration.definition)) {
    for (syntax::qualified_name& member : set->members) type_(member);
  }
  if (auto* record = std::get_if<syntax::record_definition>(&declaration.definition)) rewrite(record->fields);
  if (auto* adt = std::get_if<syntax::adt_definition>(&declaration.definition)) {
    for (syntax::branch_definition& branch : adt->branches) {
      rewrite(branch.name, branch_);
      rewrite(branch.fields);
    }
  }
}

void syntax_rewriter::rewrite(syntax::lattice_declaration& declaration) const {
  rewrite(declaration.name, type_);
  for (syntax::lattice_declaration::operation& operation : declaration.operations) rewrite(operation.value);
}

void syntax_rewriter::rewrite(syntax::directive& directive) const {
  for (syntax::qualified_name& name : directive.relations) relation_(name);
}

void syntax_rewriter::rewrite(syntax::atom& atom) const {
  relation_(atom.name);
  rewrite(atom.arguments);
}

void syntax_rewriter::rewrite(std::vector<syntax::conjunction>& alternatives) const {
  for (syntax::conjunction& conjunction : alternatives) {
    for (syntax::literal& part : conjunction) rewrite(part);
  }
}

void syntax_rewriter::rewrite(syntax::literal& part) const {
  if (auto* atom = part.as<syntax::atom>()) rewrite(*atom);
  if (auto* constraint = part.as<syntax::constraint>()) {
    rewrite(constraint->left);
    rewrite(constraint->right);
  }
  if (auto* negation = part.as<syntax::negation>()) rewrite(*negation->inner);
  if (auto* group = part.as<syntax::group>()) rewrite(group->alternatives);
}

void syntax_rewriter::rewrite(std::vector<syntax::argument>& terms) const {
  for (syntax::argument& term : terms) rewrite(term);
}

void syntax_rewriter::rewrite(syntax::argument& term) const {
  if (auto* record = term.as<syntax::record_constructor>()) rewrite(record->fields);
  if (auto* branch = term.as<syntax::branch_constructor>()) {
    branch_(branch->branch);
    rewrite(branch->fields);
  }
  if (auto* call = term.as<syntax::functor_call>()) rewrite(call->arguments);
  if (auto* call = term.as<syntax::user_functor_call>()) rewrite(call->arguments);
  if (auto* cast = term.as<syntax::type_cast>()) {
    rewrite(*cast->value);
    type_(cast->type);
  }
  if (auto* aggregate = term.as<syntax::aggregate>()) {
    if (aggregate->target) rewrite(**aggregate->target);
    if (aggregate->initial) rewrite(**aggregate->initial);
    rewrite(aggregate->body);
  }
}

}  // namespace gpulog::sema
