#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "syntax/hints.hpp"
#include "syntax/parser.hpp"
#include "syntax/token_stream.hpp"

namespace gpulog::syntax {

/// Thrown after reporting a syntax error, and caught by the current item.
struct syntax_error {};

/// A recursive-descent parser with one function per grammar rule. Records each kind that the current token is compared
/// with until the token is taken; a syntax error lists the recorded kinds.
class parser {
 public:
  parser(source_file& main_file, source_manager& sources, diagnostics& report, const parse_options& options)
      : tokens_(main_file, sources, report, options), report_(report), options_(options) {
    advance();
  }

  program run();
  std::optional<query> run_query();

 private:
  // ---- tokens (parser.cpp) ----
  /// Returns whether the current token has the given kind, which becomes one of the expected kinds.
  bool at(token_kind kind) {
    if (current_.kind == kind) return true;
    expected_.set(static_cast<std::size_t>(kind));
    return false;
  }
  bool accept(token_kind kind);
  token expect(token_kind kind);
  token take() {
    unattached_.clear();
    return take_annotated();
  }
  /// Takes the current token; unattached annotations precede the next token.
  token take_annotated();
  /// Reads the current token.
  void advance();
  [[nodiscard]] const token& next_token() { return tokens_.peek(); }
  /// Records brackets of the current token, which is taken.
  void note_brackets();
  void note_for_hints();
  [[nodiscard]] bool may_be(token_kind kind) const { return expected_.test(static_cast<std::size_t>(kind)); }
  [[nodiscard]] source_span since(const source_span& begin) const { return join(begin, last_span_); }
  identifier expect_identifier();
  qualified_name expect_qualified_name();
  [[nodiscard]] qualified_name qualified_name_from(token first);
  void warn(const source_span& where, const std::string& message, warning_kind kind) {
    if (options_.warnings) report_.warning(where, message, kind);
  }

  // ---- syntax errors (parser_errors.cpp) ----
  /// Reports the current token as unexpected.
  [[noreturn]] void fail();
  diagnostics::entry& report_current();
  diagnostics::entry& report_unexpected(const source_span& where, std::string message);
  void report_missing_dot();
  void add_hint(diagnostics::entry& error);
  [[nodiscard]] unexpected_place place_of_current();
  /// The flags of `place_flag` that depend on the item before the current token.
  [[nodiscard]] std::uint32_t flags_after(const std::vector<item>& before) const;
  /// Whether the error only follows from a reserved word that was used as a name and reported.
  [[nodiscard]] bool follows_from_reserved_word() const;
  /// Returns whether an open bracket might have been closed before the current token, which starts something new.
  [[nodiscard]] bool lacks_closing() const;
  /// Returns whether the current token starts the next item, and a dot would have ended the previous clause.
  [[nodiscard]] bool lacks_dot() const;
  /// Whether the current token, a semicolon or dot, ends a declaration or directive.
  [[nodiscard]] bool is_end_mark();
  /// Whether the current dot, after a name, ends its item: a clause or another item begins on the next line.
  [[nodiscard]] bool is_before_clause();
  /// Whether the current dot, in skipped text, ends a clause.
  [[nodiscard]] bool ends_clause();
  /// Whether the current token begins a line and does not continue the item.
  [[nodiscard]] bool is_on_next_line_of_item() const;
  /// Completes errors about names of functors and relations when all declarations are known.
  void explain_unknown_names();

  // ---- items (parser.cpp) ----
  void items(std::vector<item>& out, bool in_component);
  void one_item(std::vector<item>& out, bool in_component);
  /// Skips to the possible start of the next item.
  void recover(bool in_component, std::int64_t braces_around);
  /// Skips the plan of a skipped rule.
  void skip_plan();
  /// Skips an invalid item that starts with a dot, such as an unknown directive, to the end of the line.
  void skip_line();
  void annotations();
  /// Warns about annotations without an item; `where` is a text such as "at end of file".
  void warn_of_unattached(const std::string& where);
  void inner_annotations();
  /// @param annotations all annotations before this one
  void annotation_body(std::vector<token> annotations);
  void skip_balanced();

  // ---- declarations (parser_declarations.cpp) ----
  relation_declaration relation();
  void qualifiers(relation_declaration& declared);
  choice_key one_choice_key();
  attribute one_attribute();
  std::vector<attribute> attributes_until(token_kind close);
  type_declaration type();
  type_declaration deprecated_type(const char* base);
  lattice_declaration lattice();
  functor_declaration functor_signature();
  attribute functor_parameter();
  gpulog::syntax::directive directive(directive_kind kind);
  directive_parameter parameter();
  gpulog::syntax::pragma pragma();
  gpulog::syntax::component component();
  component_type component_reference();
  component_instance instance();
  override_declaration override_of();

  // ---- clauses (parser_clauses.cpp) ----
  item rule();
  std::vector<conjunction> body();
  conjunction one_conjunction();
  conjunction conjunction_after(literal first);
  std::vector<conjunction> alternatives_after(conjunction first);
  literal term();
  std::variant<literal, argument> term_or_argument();
  /// After `(`: a group, or an argument in parentheses.
  std::variant<literal, argument> parenthesized(const source_span& begin);
  std::variant<literal, argument> atom_or_call(atom made, functor op);
  std::optional<constraint_op> comparison();
  literal comparison_after(argument left, std::uint32_t left_depth);
  literal prefix_constraint(constraint_op op);
  atom one_atom();
  atom atom_named(qualified_name name);
  std::vector<plan_order> plan();
  std::uint32_t plan_number();

  // ---- arguments (parser_arguments.cpp) ----
  argument expression(int least_precedence = 0);
  /// Parses operators and operands after `left`.
  argument operators_after(argument left, int least_precedence);
  [[nodiscard]] bool is_at_infix() const;
  argument operand();
  argument variable_or_constant();
  argument negated_operand();
  argument prefix_operation(functor op);
  argument call(functor op, const source_span& begin);
  argument minimum_or_maximum_call(argument first, aggregate_op op, const source_span& begin);
  argument branch();
  argument cast();
  argument user_call();
  argument user_aggregate(const source_span& begin);
  argument aggregation(aggregate_op op);
  argument aggregation_after_target(std::vector<argument> targets, aggregate_op op, const source_span& begin);
  std::vector<conjunction> aggregate_body();
  std::vector<argument> arguments_until(token_kind close);
  /// Parses all arguments from here on, separated by commas; `targets` are already read.
  std::vector<argument> arguments_from(std::vector<argument> targets, std::uint32_t deepest);
  [[nodiscard]] bool begins_argument(token_kind kind) const;

  // ---- depth of trees ----
  /// Limits the recursion of the parser. Nested literals need more stack per level than arguments.
  static constexpr std::uint32_t weight_of_argument = 1, weight_of_literal = 4;
  /// For nodes that are destroyed recursively.
  class boxed_nesting {
   public:
    boxed_nesting(parser& owner, std::uint32_t weight) : owner_(owner), weight_(weight) {
      if (owner_.boxed_nesting_ + weight_ > max_nesting_depth) owner_.too_deep(max_nesting_depth);
      owner_.boxed_nesting_ += weight_;
    }
    boxed_nesting(const boxed_nesting&) = delete;
    boxed_nesting& operator=(const boxed_nesting&) = delete;
    ~boxed_nesting() { owner_.boxed_nesting_ -= weight_; }

   private:
    parser& owner_;
    std::uint32_t weight_;
  };
  class nesting {
   public:
    nesting(parser& owner, std::uint32_t weight) : owner_(owner), weight_(weight) {
      if (owner_.nesting_ + weight_ > owner_.options_.deepest) owner_.too_deep(owner_.options_.deepest);
      owner_.nesting_ += weight_;
    }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;
    ~nesting() { owner_.nesting_ -= weight_; }

   private:
    parser& owner_;
    std::uint32_t weight_;
  };
  [[noreturn]] void too_deep(std::uint32_t limit);
  /// Sets the depth of the current node to one above nodes of depth `below`.
  void set_depth(std::uint32_t below) {
    depth_ = below + 1;
    if (depth_ > options_.deepest) too_deep(options_.deepest);
  }

  token_stream tokens_;
  diagnostics& report_;
  const parse_options& options_;
  token current_;
  std::vector<token> unattached_;  ///< doc comments, and the `@` of annotations, before the current token
  source_span last_span_;          ///< of the last taken token
  token_kind last_kind_ = token_kind::end_of_file;
  std::bitset<token_kind_count> expected_;  ///< kinds that the current token was compared with
  std::size_t taken_ = 0;                   ///< number of tokens taken so far
  std::size_t taken_before_item_ = 0;
  bool item_follows_ = false;  ///< after the last reported syntax error
  /// The item that is being read, for hints.
  struct item_state {
    token_kind kind = token_kind::end_of_file;  ///< of its first token
    source_span begin;                          ///< of its first token
    std::uint32_t flags = 0;                    ///< of place_flag: what stands before it
    source_span value_alone = {};               ///< where a literal was expected
    source_span form = {};               ///< the word of an aggregate or test that was not read as far as its end
    source_span long_symbol = {};        ///< a symbol of several lines
    source_span last_semicolon = {};     ///< that ends a line, where the next line does not continue the item
    std::vector<token_kind> words = {};  ///< reserved words that were read
  };
  item_state item_;
  std::uint32_t nesting_ = 0, boxed_nesting_ = 0;
  bool needs_deep_stack_ = false;
  bool may_have_text_tests_ = false;
  std::uint32_t depth_ = 0;  ///< of the last created tree
  std::uint32_t components_open_ = 0;
  std::int64_t braces_open_ = 0;
  struct open_bracket {
    source_span where;
    token_kind closing;
    [[nodiscard]] std::string_view text() const { return where.file->text().substr(where.begin, 1); }
  };
  std::vector<open_bracket> open_;                            ///< brackets of the current item
  bool given_up_ = false;                                     ///< whether the rest of the text is skipped
  std::vector<token_kind> reserved_;                          ///< words that were used as names and reported
  std::set<std::string, std::less<>> relations_;              ///< names of declarations
  std::map<std::string, std::string, std::less<>> branches_;  ///< types by the names of their branches
  struct unknown_name {
    diagnostics::entry* error;
    std::string name;
    std::string otherwise;  ///< the hint where no declaration explains the name
  };
  std::vector<unknown_name> unknown_functors_, unknown_relations_;
};

}  // namespace gpulog::syntax
