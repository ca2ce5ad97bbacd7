#include "syntax/token.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>

namespace gpulog::syntax {

namespace {

struct named_kind {
  token_kind kind;
  std::string_view spelling;  ///< empty: no fixed text
  std::string_view readable;
};

// The readable names follow Soufflé's messages.
constexpr std::array named_kinds = {
    named_kind{token_kind::end_of_file, "", "end of file"},
    named_kind{token_kind::invalid, "", "invalid token"},
    named_kind{token_kind::string, "", "symbol"},
    named_kind{token_kind::identifier, "", "identifier"},
    named_kind{token_kind::number, "", "number"},
    named_kind{token_kind::unsigned_number, "", "unsigned number"},
    named_kind{token_kind::floating, "", "float"},
    named_kind{token_kind::word_autoinc, "autoinc", "auto-increment functor"},
    named_kind{token_kind::word_output, "output", "relation qualifier output"},
    named_kind{token_kind::word_input, "input", "relation qualifier input"},
    named_kind{token_kind::word_printsize, "printsize", "relation qualifier printsize"},
    named_kind{token_kind::word_brie, "brie", "BRIE datastructure qualifier"},
    named_kind{token_kind::word_btree, "btree", "BTREE datastructure qualifier"},
    named_kind{token_kind::word_btree_delete, "btree_delete", "BTREE_DELETE datastructure qualifier"},
    named_kind{token_kind::word_eqrel, "eqrel", "equivalence relation qualifier"},
    named_kind{token_kind::word_overridable, "overridable", "relation qualifier overidable"},
    named_kind{token_kind::word_inline, "inline", "relation qualifier inline"},
    named_kind{token_kind::word_no_inline, "no_inline", "relation qualifier no_inline"},
    named_kind{token_kind::word_magic, "magic", "relation qualifier magic"},
    named_kind{token_kind::word_no_magic, "no_magic", "relation qualifier no_magic"},
    named_kind{token_kind::word_match, "match", "match predicate"},
    named_kind{token_kind::word_contains, "contains", "checks whether substring is contained in a string"},
    named_kind{token_kind::word_stateful, "stateful", "stateful functor"},
    named_kind{token_kind::word_cat, "cat", "concatenation of strings"},
    named_kind{token_kind::word_ord, "ord", "ordinal number of a string"},
    named_kind{token_kind::word_range, "range", "range"},
    named_kind{token_kind::word_strlen, "strlen", "length of a string"},
    named_kind{token_kind::word_substr, "substr", "sub-string of a string"},
    named_kind{token_kind::word_mean, "mean", "mean aggregator"},
    named_kind{token_kind::word_min, "min", "min aggregator"},
    named_kind{token_kind::word_max, "max", "max aggregator"},
    named_kind{token_kind::word_count, "count", "count aggregator"},
    named_kind{token_kind::word_sum, "sum", "sum aggregator"},
    named_kind{token_kind::word_true, "true", "true literal constraint"},
    named_kind{token_kind::word_false, "false", "false literal constraint"},
    named_kind{token_kind::word_iteration, "recursive_iteration_cnt", "recursive iteration keyword"},
    named_kind{token_kind::word_choice_domain, "choice-domain", "choice-domain"},
    named_kind{token_kind::word_debug_delta, "debug_delta", "debug_delta"},
    named_kind{token_kind::word_to_float, "to_float", "convert to float"},
    named_kind{token_kind::word_to_number, "to_number", "convert to signed integer"},
    named_kind{token_kind::word_to_string, "to_string", "convert to string"},
    named_kind{token_kind::word_to_unsigned, "to_unsigned", "convert to unsigned integer"},
    named_kind{token_kind::word_as, "as", "type cast"},
    named_kind{token_kind::word_nil, "nil", "nil reference"},
    named_kind{token_kind::word_band, "band", "band"},
    named_kind{token_kind::word_bor, "bor", "bor"},
    named_kind{token_kind::word_bxor, "bxor", "bxor"},
    named_kind{token_kind::word_bshl, "bshl", "bshl"},
    named_kind{token_kind::word_bshr, "bshr", "bshr"},
    named_kind{token_kind::word_bshru, "bshru", "bshru"},
    named_kind{token_kind::word_bnot, "bnot", "bnot"},
    named_kind{token_kind::word_land, "land", "land"},
    named_kind{token_kind::word_lor, "lor", "lor"},
    named_kind{token_kind::word_lxor, "lxor", "lxor"},
    named_kind{token_kind::word_lnot, "lnot", "lnot"},
    named_kind{token_kind::directive_decl, "decl", "relation declaration"},
    named_kind{token_kind::directive_functor, "functor", "functor declaration"},
    named_kind{token_kind::directive_input, "input", "input directives declaration"},
    named_kind{token_kind::directive_output, "output", "output directives declaration"},
    named_kind{token_kind::directive_printsize, "printsize", "printsize directives declaration"},
    named_kind{token_kind::directive_limitsize, "limitsize", "limitsize directives declaration"},
    named_kind{token_kind::directive_type, "type", "type declaration"},
    named_kind{token_kind::directive_lattice, "lattice", "lattice declaration"},
    named_kind{token_kind::directive_comp, "comp", "component declaration"},
    named_kind{token_kind::directive_init, "init", "component instantiation"},
    named_kind{token_kind::directive_number_type, "number_type", "numeric type declaration"},
    named_kind{token_kind::directive_symbol_type, "symbol_type", "symbolic type declaration"},
    named_kind{token_kind::directive_override, "override", "override rules of super-component"},
    named_kind{token_kind::directive_pragma, "pragma", "pragma directive"},
    named_kind{token_kind::directive_plan, "plan", "plan keyword"},
    named_kind{token_kind::directive_include, "include", "include directive"},
    named_kind{token_kind::directive_once, "once", "once directive"},
    named_kind{token_kind::if_, ":-", ":-"},
    named_kind{token_kind::at, "@", "@"},
    named_kind{token_kind::at_not, "@!", "@!"},
    named_kind{token_kind::pipe, "|", "|"},
    named_kind{token_kind::left_bracket, "[", "["},
    named_kind{token_kind::right_bracket, "]", "]"},
    named_kind{token_kind::underscore, "_", "_"},
    named_kind{token_kind::dollar, "$", "$"},
    named_kind{token_kind::plus, "+", "+"},
    named_kind{token_kind::minus, "-", "-"},
    named_kind{token_kind::exclamation, "!", "!"},
    named_kind{token_kind::left_parenthesis, "(", "("},
    named_kind{token_kind::right_parenthesis, ")", ")"},
    named_kind{token_kind::comma, ",", "\",\""},
    named_kind{token_kind::colon, ":", ":"},
    named_kind{token_kind::double_colon, "::", "::"},
    named_kind{token_kind::semicolon, ";", ";"},
    named_kind{token_kind::dot, ".", "."},
    named_kind{token_kind::equals, "=", "="},
    named_kind{token_kind::star, "*", "*"},
    named_kind{token_kind::slash, "/", "/"},
    named_kind{token_kind::caret, "^", "^"},
    named_kind{token_kind::percent, "%", "%"},
    named_kind{token_kind::left_brace, "{", "{"},
    named_kind{token_kind::right_brace, "}", "}"},
    named_kind{token_kind::subtype, "<:", "<:"},
    named_kind{token_kind::less, "<", "<"},
    named_kind{token_kind::greater, ">", ">"},
    named_kind{token_kind::less_equal, "<=", "<="},
    named_kind{token_kind::greater_equal, ">=", ">="},
    named_kind{token_kind::not_equal, "!=", "!="},
    named_kind{token_kind::maps_to, "->", "->"},
    named_kind{token_kind::doc_comment, "", "doc comment"},
    named_kind{token_kind::include_begins, "", "start of included file"},
    named_kind{token_kind::include_ends, "", "end of included file"},
};

constexpr bool in_order() {
  for (std::size_t number = 0; number < named_kinds.size(); ++number) {
    if (static_cast<std::size_t>(named_kinds[number].kind) != number) return false;
  }
  return named_kinds.back().kind == token_kind::include_ends;
}
static_assert(in_order(), "readable_name reads the table by kind");

/// Kinds by spelling. Most names share first byte and length with no spelling, and need no hash.
class spelling_map {
 public:
  explicit spelling_map(bool (*wanted)(token_kind)) {
    for (const named_kind& entry : named_kinds) {
      if (!wanted(entry.kind)) continue;
      kinds_.emplace(entry.spelling, entry.kind);
      lengths_[static_cast<unsigned char>(entry.spelling[0])] |= bit_of_length(entry.spelling);
    }
  }

  [[nodiscard]] token_kind find_or(std::string_view word, token_kind otherwise) const {
    if (word.empty() || (lengths_[static_cast<unsigned char>(word[0])] & bit_of_length(word)) == 0) return otherwise;
    const auto entry = kinds_.find(word);
    return entry == kinds_.end() ? otherwise : entry->second;
  }

 private:
  static std::uint64_t bit_of_length(std::string_view word) { return std::uint64_t{1} << (word.size() % 64); }

  std::unordered_map<std::string_view, token_kind> kinds_;
  std::array<std::uint64_t, 256> lengths_{};  ///< for each first byte, a bit for each length
};

}  // namespace

std::string_view readable_name(token_kind kind) { return named_kinds[static_cast<std::size_t>(kind)].readable; }

token_kind kind_of_word(std::string_view word) {
  static const spelling_map words([](token_kind kind) { return is_word(kind); });
  return words.find_or(word, token_kind::identifier);
}

token_kind kind_of_directive(std::string_view word) {
  static const spelling_map directives([](token_kind kind) { return is_directive(kind); });
  return directives.find_or(word, token_kind::dot);
}

std::vector<std::string_view> directive_names() {
  std::vector<std::string_view> names;
  for (const named_kind& entry : named_kinds) {
    if (is_directive(entry.kind)) names.push_back(entry.spelling);
  }
  return names;
}

}  // namespace gpulog::syntax
