#include "support/value_table.hpp"
#include "syntax/parser_state.hpp"

namespace gpulog::syntax {

namespace {

std::optional<relation_qualifier> qualifier_of(token_kind kind) {
  static constexpr entry<token_kind, relation_qualifier> table[] = {
      {token_kind::word_overridable, relation_qualifier::overridable},
      {token_kind::word_inline, relation_qualifier::is_inline},
      {token_kind::word_no_inline, relation_qualifier::no_inline},
      {token_kind::word_magic, relation_qualifier::magic},
      {token_kind::word_no_magic, relation_qualifier::no_magic},
      {token_kind::word_brie, relation_qualifier::brie},
      {token_kind::word_btree, relation_qualifier::btree},
      {token_kind::word_btree_delete, relation_qualifier::btree_delete},
      {token_kind::word_eqrel, relation_qualifier::eqrel},
      {token_kind::word_input, relation_qualifier::input},
      {token_kind::word_output, relation_qualifier::output},
      {token_kind::word_printsize, relation_qualifier::printsize},
  };
  return find_in(table, kind);
}

bool is_representation(relation_qualifier qualifier) {
  return qualifier >= relation_qualifier::brie && qualifier <= relation_qualifier::eqrel;
}

bool is_deprecated(relation_qualifier qualifier) { return qualifier >= relation_qualifier::input; }

}  // namespace

relation_declaration parser::relation() {
  const source_span begin = take().span;
  relation_declaration result;
  result.names.push_back(expect_identifier());
  if (accept(token_kind::equals)) {
    expect(token_kind::word_debug_delta);
    expect(token_kind::left_parenthesis);
    result.debug_delta_of = expect_identifier();
    expect(token_kind::right_parenthesis);
  } else {
    while (accept(token_kind::comma)) result.names.push_back(expect_identifier());
    expect(token_kind::left_parenthesis);
    result.attributes = attributes_until(token_kind::right_parenthesis);
  }
  for (const identifier& name : result.names) relations_.insert(name.text);
  qualifiers(result);
  if (accept(token_kind::word_choice_domain)) {
    do {
      result.choice_domain.push_back(one_choice_key());
    } while (accept(token_kind::comma));
  }
  result.span = since(begin);
  return result;
}

void parser::qualifiers(relation_declaration& declared) {
  while (const auto qualifier = qualifier_of(current_.kind)) {
    const token word = take();
    const auto clashes = [&](const placed_qualifier& other) {
      return other.what == *qualifier || (is_representation(other.what) && is_representation(*qualifier));
    };
    if (std::any_of(declared.qualifiers.begin(), declared.qualifiers.end(), clashes)) {
      const std::string set = is_representation(*qualifier) ? "btree/brie/eqrel/btree_delete" : std::string(word.text);
      report_.error(word.span, set + " qualifier already set");
      continue;
    }
    if (is_deprecated(*qualifier))
      warn(word.span, "Deprecated " + std::string(word.text) + " qualifier was used",
           warning_kind::deprecated_qualifier);
    declared.qualifiers.push_back({*qualifier, word.span});
  }
}

choice_key parser::one_choice_key() {
  choice_key result;
  const source_span begin = current_.span;
  if (accept(token_kind::left_parenthesis)) {
    do {
      result.attributes.push_back(expect_identifier());
    } while (accept(token_kind::comma));
    expect(token_kind::right_parenthesis);
  } else {
    result.attributes.push_back(expect_identifier());
  }
  result.span = since(begin);
  return result;
}

attribute parser::one_attribute() {
  annotations();
  attribute result;
  result.name = expect_identifier();
  expect(token_kind::colon);
  result.type = expect_qualified_name();
  if (accept(token_kind::less)) {
    expect(token_kind::greater);
    result.is_lattice = true;
  }
  result.span = since(result.name.span);
  return result;
}

std::vector<attribute> parser::attributes_until(token_kind close) {
  std::vector<attribute> result;
  if (accept(close)) return result;
  do {
    result.push_back(one_attribute());
  } while (accept(token_kind::comma));
  expect(close);
  return result;
}

type_declaration parser::type() {
  const source_span begin = take().span;
  type_declaration result;
  result.name = expect_identifier();
  if (accept(token_kind::subtype)) {
    result.definition = subtype_definition{expect_qualified_name()};
  } else if (accept(token_kind::equals)) {
    annotations();
    if (accept(token_kind::left_bracket)) {
      result.definition = record_definition{attributes_until(token_kind::right_bracket)};
    } else if (at(token_kind::identifier) && next_token().kind == token_kind::left_brace) {
      adt_definition sum;
      do {
        annotations();
        branch_definition branch;
        branch.name = expect_identifier();
        expect(token_kind::left_brace);
        inner_annotations();
        branch.fields = attributes_until(token_kind::right_brace);
        branch.span = since(branch.name.span);
        branches_.emplace(branch.name.text, result.name.text);
        sum.branches.push_back(std::move(branch));
      } while (accept(token_kind::pipe));
      result.definition = std::move(sum);
    } else {
      union_definition members;
      do {
        members.members.push_back(expect_qualified_name());
      } while (accept(token_kind::pipe));
      if (members.members.size() == 1) {
        result.definition = alias_definition{std::move(members.members.front())};
      } else {
        result.definition = std::move(members);
      }
    }
  } else {
    // Depends on the next token: the next item, or an unexpected token.
    const bool item_follows = is_directive(current_.kind) || current_.kind == token_kind::identifier ||
                              current_.kind == token_kind::end_of_file || current_.kind == token_kind::right_brace ||
                              current_.kind == token_kind::at;
    if (!item_follows) fail();
    warn(since(begin), "Deprecated type declaration used", warning_kind::deprecated_type_declaration);
    result.definition = subtype_definition{{"symbol", result.name.span}};
  }
  result.span = since(begin);
  return result;
}

type_declaration parser::deprecated_type(const char* base) {
  const source_span begin = take().span;
  type_declaration result;
  result.name = expect_identifier();
  result.definition = subtype_definition{{base, result.name.span}};
  result.span = since(begin);
  warn(result.span, "Deprecated type declaration used", warning_kind::deprecated_type_declaration);
  return result;
}

lattice_declaration parser::lattice() {
  const source_span begin = take().span;
  lattice_declaration result;
  result.name = expect_identifier();
  expect(token_kind::less);
  expect(token_kind::greater);
  expect(token_kind::left_brace);
  do {
    lattice_declaration::operation operation;
    operation.name = expect_identifier();
    expect(token_kind::maps_to);
    operation.value = expression();
    result.operations.push_back(std::move(operation));
  } while (accept(token_kind::comma));
  expect(token_kind::right_brace);
  result.span = since(begin);
  return result;
}

functor_declaration parser::functor_signature() {
  const source_span begin = take().span;
  functor_declaration result;
  result.name = expect_identifier();
  expect(token_kind::left_parenthesis);
  if (!accept(token_kind::right_parenthesis)) {
    do {
      result.parameters.push_back(functor_parameter());
    } while (accept(token_kind::comma));
    expect(token_kind::right_parenthesis);
  }
  expect(token_kind::colon);
  result.result = expect_qualified_name();
  result.stateful = accept(token_kind::word_stateful);
  result.span = since(begin);
  return result;
}

attribute parser::functor_parameter() {
  annotations();
  attribute result;
  token first = expect(token_kind::identifier);
  const source_span begin = first.span;
  if (accept(token_kind::colon)) {
    result.name = {std::string(first.text), begin};
    result.type = expect_qualified_name();
  } else {
    result.type = qualified_name_from(std::move(first));
  }
  result.span = since(begin);
  return result;
}

gpulog::syntax::directive parser::directive(directive_kind kind) {
  const source_span begin = take().span;
  gpulog::syntax::directive result;
  result.kind = kind;
  do {
    result.relations.push_back(expect_qualified_name());
  } while (accept(token_kind::comma));
  if (accept(token_kind::left_parenthesis) && !accept(token_kind::right_parenthesis)) {
    do {
      result.parameters.push_back(parameter());
    } while (accept(token_kind::comma));
    expect(token_kind::right_parenthesis);
  }
  result.span = since(begin);
  return result;
}

directive_parameter parser::parameter() {
  directive_parameter result;
  result.key = expect_identifier();
  expect(token_kind::equals);
  const bool is_value = at(token_kind::string) || at(token_kind::identifier) || at(token_kind::number) ||
                        at(token_kind::word_true) || at(token_kind::word_false);
  if (!is_value) fail();
  result.value = take().text;
  return result;
}

gpulog::syntax::pragma parser::pragma() {
  const source_span begin = take().span;
  gpulog::syntax::pragma result;
  result.name = expect(token_kind::string).text;
  if (at(token_kind::string)) result.value = take().text;
  result.span = since(begin);
  return result;
}

component_type parser::component_reference() {
  component_type result;
  result.name = expect_identifier();
  if (accept(token_kind::less)) {
    do {
      result.parameters.push_back(expect_identifier());
    } while (accept(token_kind::comma));
    expect(token_kind::greater);
  }
  result.span = since(result.name.span);
  return result;
}

component_instance parser::instance() {
  const source_span begin = take().span;
  component_instance result;
  result.name = expect_identifier();
  expect(token_kind::equals);
  result.type = component_reference();
  result.span = since(begin);
  return result;
}

override_declaration parser::override_of() {
  const source_span begin = take().span;
  override_declaration result;
  result.name = expect_identifier();
  result.span = since(begin);
  return result;
}

}  // namespace gpulog::syntax
