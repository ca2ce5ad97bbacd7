#include "io/formats/json/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "io/fact_source.hpp"
#include "io/facts_reader.hpp"
#include "io/files/byte_source.hpp"
#include "io/row_problems.hpp"
#include "io/values/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// A value other than a list or object: the text, for strings without quotes and escapes.
struct scalar {
  std::string text;
  bool is_string = false;
  const char* place = nullptr;
  std::uint64_t line = 0;
  std::optional<word> record;  ///< if set, the text is empty
};

/// Limit of nested records: the reader recurses.
constexpr std::size_t deepest_record = 2000;

/// Reports the first value of a wrong kind in each row, and continues with the next row.
class json_rows {
 public:
  json_rows(std::string_view text, const read_request& request, storage::symbol_table& symbols,
            std::vector<backend::array<word>>& columns)
      : text_(text),
        at_(text.data()),
        end_(text.data() + text.size()),
        request_(request),
        symbols_(symbols),
        columns_(columns),
        row_(request.kinds.size()) {}

  std::uint64_t parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ += 3;  // a byte order mark
    skip_blanks();
    if (at_ == end_) return 0;  // an empty file is an empty relation
    expect('[');
    for_each_element([this](std::size_t) { parse_row(); });
    skip_blanks();
    if (at_ != end_) fail("Text after the end of the list");
    if (!problems_.empty()) throw read_failure(problems_.text());
    return rows_;
  }

 private:
  /// Reports text that is not JSON, and stops: the rest can't be parsed.
  [[noreturn]] void fail(const std::string& what) {
    is_faulty_ = false;
    report({fmt::format("{} in line {}", what, line_)}, at_);
    problems_.is_all = false;
    throw read_failure(problems_.text());
  }

  void report(row_problem problem, const char* place) {
    if (std::exchange(is_faulty_, true)) return;
    problems_.add([&] {
      problem.excerpt = excerpt_at(text_, static_cast<std::size_t>(place - text_.data()));
      return std::move(problem);
    });
  }

  /// Reports a problem with the value that starts here.
  void report_here(const std::string& what) { report({fmt::format("{} in line {}", what, line_)}, at_); }

  void skip_blanks() {
    for (; at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n'); ++at_) {
      if (*at_ == '\n') ++line_;
    }
  }

  bool try_take(char wanted) {
    skip_blanks();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (try_take(wanted)) return;
    if (at_ == end_) fail(fmt::format("Expected {}, but the text ends", wanted));
    fail(fmt::format("Expected {}, but found {}", wanted, *at_));
  }

  /// Calls use(number) to read each element of a list, after the opening bracket.
  template <class Use>
  void for_each_element(const Use& use) {
    if (try_take(']')) return;
    std::size_t number = 0;
    do {
      use(number++);
    } while (try_take(','));
    expect(']');
  }

  /// Calls use(name) to read the value of each member of an object, after the opening brace. @param what the thing that
  /// a name denotes, for messages
  template <class Use>
  void for_each_member(const char* what, const Use& use) {
    if (try_take('}')) return;
    do {
      use(parse_name(what));
    } while (try_take(','));
    expect('}');
  }

  std::string parse_name(const char* what) {
    skip_blanks();
    if (at_ == end_ || *at_ != '"') fail(fmt::format("Expected the name of {}", what));
    std::string name = parse_string();
    expect(':');
    return name;
  }

  void parse_row() {
    std::fill(row_.begin(), row_.end(), std::nullopt);
    is_faulty_ = false;
    if (try_take('{')) {
      for_each_member("an attribute", [this](const std::string& name) {
        const auto found = std::find(request_.attribute_names.begin(), request_.attribute_names.end(), name);
        parse_attribute(static_cast<std::size_t>(found - request_.attribute_names.begin()));
      });
    } else {
      expect('[');
      for_each_element([this](std::size_t attribute) { parse_attribute(attribute); });
    }
    for (std::size_t attribute = 0; attribute < row_.size(); ++attribute) {
      if (!row_[attribute]) report_here("Values missing");
      if (!row_[attribute]) continue;
      const value_type type = request_.structured.type_of(attribute, request_.kinds[attribute]);
      columns_[attribute].push_back(convert(*row_[attribute], type, attribute));
    }
    ++rows_;
  }

  void parse_attribute(std::size_t attribute) {
    scalar value = parse_column(attribute);
    if (attribute < row_.size()) row_[attribute] = std::move(value);
  }

  scalar parse_column(std::size_t attribute) {
    if (attribute >= row_.size() || request_.kinds[attribute] != value_kind::record) return parse_scalar();
    skip_blanks();
    scalar value{{}, false, at_, line_, {}};
    value.record = parse_record(request_.structured.type_of(attribute, value_kind::record), attribute, 0);
    return value;
  }

  /// Reads null, a list of fields, or an object with named fields.
  word parse_record(const value_type& type, std::size_t attribute, std::size_t depth) {
    if (depth == deepest_record) fail("Records are nested too deeply");
    const std::vector<field_type>& fields = (*request_.structured.types)[type.structure.value].fields;
    std::vector<std::optional<word>> values(fields.size());
    const auto parse_field = [&](std::size_t field) {
      skip_blanks();
      if (field >= fields.size()) {
        report_here(fmt::format("A record in column {} has too many fields", attribute + 1));
        return skip_value(depth + 1);
      }
      const value_type& wanted = fields[field].type;
      values[field] = wanted.kind == value_kind::record ? parse_record(wanted, attribute, depth + 1)
                                                        : convert(parse_scalar(), wanted, attribute);
    };
    if (try_take('[')) {
      for_each_element(parse_field);
    } else if (try_take('{')) {
      for_each_member("a field", [&](const std::string& name) {
        const auto found =
            std::find_if(fields.begin(), fields.end(), [&name](const field_type& field) { return field.name == name; });
        if (found != fields.end()) return parse_field(static_cast<std::size_t>(found - fields.begin()));
        skip_blanks();
        report_here(fmt::format("A record in column {} has no field {}", attribute + 1, name));
        skip_value(depth + 1);
      });
    } else {
      const scalar nil = parse_scalar();
      if (nil.text != "null") {
        report({fmt::format("Expected a record in column {} in line {}", attribute + 1, nil.line)}, nil.place);
      }
      return storage::nil_record;
    }
    std::vector<word> words;
    for (const std::optional<word>& value : values) {
      if (!value) report_here(fmt::format("A record in column {} lacks fields", attribute + 1));
      words.push_back(value.value_or(0));
    }
    if (is_faulty_) return storage::nil_record;
    return (*request_.structured.records)[static_cast<std::uint32_t>(words.size())].intern(words.data());
  }

  scalar parse_scalar() {
    skip_blanks();
    scalar value{{}, false, at_, line_, {}};
    if (at_ < end_ && *at_ == '"') {
      value.text = parse_string();
      value.is_string = true;
    } else if (at_ < end_ && (*at_ == '[' || *at_ == '{')) {
      report_here("Expected a value");
      skip_value(0);
    } else {
      while (at_ < end_ && std::string_view(",]} \t\r\n[{:\"").find(*at_) == std::string_view::npos) ++at_;
      if (at_ == value.place) fail("Expected a value");
      value.text.assign(value.place, at_);
    }
    return value;
  }

  void skip_value(std::size_t depth) {
    if (depth == deepest_record) fail("Values are nested too deeply");
    if (try_take('[')) {
      for_each_element([&](std::size_t) { skip_value(depth + 1); });
    } else if (try_take('{')) {
      for_each_member("a field", [&](const std::string&) { skip_value(depth + 1); });
    } else {
      static_cast<void>(parse_scalar());
    }
  }

  std::string parse_string() {
    std::string text;
    ++at_;
    for (;;) {
      const char* stop = std::find_if(at_, end_, [](char byte) { return byte == '"' || byte == '\\' || byte == '\n'; });
      text.append(at_, stop);
      at_ = stop;
      if (at_ == end_ || *at_ == '\n') fail("Closing quote missing");
      if (*at_++ == '"') return text;
      append_escaped(text);
    }
  }

  void append_escaped(std::string& text) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (at_ == end_) fail("Closing quote missing");
    const char letter = *at_++;
    if (letter == 'u') {
      append_code_point(text);
      return;
    }
    const std::size_t position = letters.find(letter);
    if (position == std::string_view::npos) fail(fmt::format("Unknown escape \\{}", letter));
    text += meanings[position];
  }

  void append_code_point(std::string& text) {
    std::uint32_t code = parse_code_unit();
    constexpr std::uint32_t high_surrogates = 0xd800;
    constexpr std::uint32_t low_surrogates = 0xdc00;
    constexpr std::uint32_t surrogates_end = 0xe000;
    if (code >= high_surrogates && code < low_surrogates && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
      at_ += 2;
      const std::uint32_t low = parse_code_unit();
      if (low < low_surrogates || low >= surrogates_end) fail("Unmatched surrogate");
      code = 0x10000 + ((code - high_surrogates) << 10) + (low - low_surrogates);
    } else if (code >= low_surrogates + 0x80 && code <= low_surrogates + 0xff) {
      text += static_cast<char>(code - low_surrogates);  // a byte outside of any character, as the writer encodes it
      return;
    } else if (code >= high_surrogates && code < surrogates_end) {
      fail("Unmatched surrogate");
    }
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xc0 | (code >> 6));
      add(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      add(0xe0 | (code >> 12));
      add(0x80 | ((code >> 6) & 0x3f));
      add(0x80 | (code & 0x3f));
    } else {
      add(0xf0 | (code >> 18));
      add(0x80 | ((code >> 12) & 0x3f));
      add(0x80 | ((code >> 6) & 0x3f));
      add(0x80 | (code & 0x3f));
    }
  }

  std::uint32_t parse_code_unit() {
    std::uint32_t code = 0;
    const std::string digits = "0x" + std::string(at_, at_ + std::min<std::ptrdiff_t>(4, end_ - at_));
    if (digits.size() != 6 || !parse_unsigned(digits, code)) fail("A \\u escape has four hexadecimal digits");
    at_ += 4;
    return code;
  }

  word convert(const scalar& value, const value_type& type, std::size_t attribute) {
    const value_kind kind = type.kind;
    word result = 0;
    if (value.record) return *value.record;
    if (kind == value_kind::symbol && value.is_string) return symbols_.intern(value.text);
    if (kind == value_kind::adt) {
      if (value.is_string && parse_structured(value.text, type, request_.structured, symbols_, result)) {
        return result;
      }
    } else if (kind != value_kind::symbol && !value.is_string &&
               parse_value(value.text, kind, request_.structured.wide, result))
      return result;
    if (kind != value_kind::symbol && !value.is_string &&
        parse_whole_number(value.text, kind, request_.structured.wide, result))
      return result;
    if (kind == value_kind::floating && value.is_string &&
        parse_value(value.text, kind, request_.structured.wide, result) &&
        !std::isfinite(real_value(result, request_.structured.wide)))
      return result;
    report(problem_of(value, kind, attribute), value.place);
    return 0;
  }

  [[nodiscard]] row_problem problem_of(const scalar& value, value_kind kind, std::size_t attribute) const {
    row_problem problem = conversion_problem(value.text, kind, attribute, fmt::format("line {}", value.line),
                                             request_.structured.wide != nullptr);
    const bool is_text_expected = kind == value_kind::symbol || kind == value_kind::adt;
    const bool is_word = value.text == "null" || value.text == "true" || value.text == "false";
    const bool is_number =
        !value.text.empty() && std::string_view("-0123456789").find(value.text[0]) != std::string_view::npos;
    if (!value.is_string && !is_word && !is_number) return problem;
    if (value.is_string == is_text_expected && (value.is_string || is_number)) return problem;
    const std::string found = value.is_string ? "a text" : is_word ? value.text : "a number";
    problem.what += fmt::format(" ({} instead of {})", found, is_text_expected ? "a text" : "a number");
    problem.hint.clear();
    return problem;
  }

  /// Parses a whole number with a fraction or an exponent: in JSON, 2, 2.0 and 2e0 are equal.
  static bool parse_whole_number(const std::string& text, value_kind kind, storage::wide_values* wide, word& value) {
    double number = 0;
    if (!parse_floating(text, number) || number != std::trunc(number)) return false;
    const double end = wide == nullptr ? 4294967296.0 : 18446744073709551616.0;  // of unsigned numbers
    wide_word whole = 0;
    if (kind == value_kind::number) {
      if (!(number >= -end / 2 && number < end / 2)) return false;
      whole = static_cast<wide_word>(static_cast<std::int64_t>(number));
    } else {
      if (kind != value_kind::unsigned_number || !(number >= 0 && number < end)) return false;
      whole = static_cast<wide_word>(number);
    }
    value = storage::word_of(whole, wide);
    return true;
  }

  std::string_view text_;
  const char* at_;
  const char* end_;
  const read_request& request_;
  storage::symbol_table& symbols_;
  std::vector<backend::array<word>>& columns_;
  std::vector<std::optional<scalar>> row_;
  std::uint64_t line_ = 1;
  std::uint64_t rows_ = 0;
  row_problems problems_;
  bool is_faulty_ = false;  ///< whether the row is faulty and already reported
};

}  // namespace

std::uint64_t parse_json_rows(std::string_view text, const read_request& request, storage::symbol_table& symbols,
                              std::vector<backend::array<word>>& columns) {
  return json_rows(text, request, symbols, columns).parse();
}

namespace {

std::uint64_t load_json(fact_source source, const read_request& request, storage::symbol_table& symbols,
                        const row_allocator& allocate) {
  std::vector<backend::array<word>> parsed = empty_columns(request);
  std::uint64_t rows = 0;
  try {
    rows = parse_json_rows(source.read_all(*request.memory).bytes(), request, symbols, parsed);
  } catch (const read_failure& problem) {
    fact_source::refuse(problem.what(), source.name());
  }
  hand_over(parsed, rows, allocate);
  return rows;
}

}  // namespace

std::uint64_t read_json_file(const read_request& request, storage::symbol_table& symbols,
                             const row_allocator& allocate) {
  std::optional<fact_source> source = fact_source::open_text_file(request, ".json");
  return source ? load_json(std::move(*source), request, symbols, allocate) : 0;
}

std::uint64_t read_json_from_standard_input(const read_request& request, storage::symbol_table& symbols,
                                            const row_allocator& allocate) {
  return load_json(fact_source::standard_input(), request, symbols, allocate);
}

}  // namespace gpulog::io
