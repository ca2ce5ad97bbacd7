#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/rows/arrow_arrays.hpp"
#include "engine/rows/arrow_decimals.hpp"
#include "engine/rows/interned_texts.hpp"
#include "gpulog/arrow.hpp"
#include "gpulog/error.hpp"
#include "gpulog/relation.hpp"
#include "io/values/structured_value.hpp"
#include "sema/types/types.hpp"
#include "support/long_vector.hpp"
#include "support/option_names.hpp"

namespace gpulog {
namespace {

using detail::array_range;
using detail::decimal_at;
using detail::first_null;
using detail::has_value;
using detail::layout_of;
using detail::name_of_format;
using detail::text_at;
using detail::text_layout;
using detail::visit_numbers;

/// Values that are encoded per batch, for words of 64 bits.
constexpr std::uint64_t values_at_a_time = 1024;

/// Releases a struct received from a stream.
template <class Struct>
class owned {
 public:
  owned() = default;
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() {
    if (given_.release != nullptr) given_.release(&given_);
  }
  [[nodiscard]] Struct& get() { return given_; }

 private:
  Struct given_{};
};

/// A value converted to a word of the relation.
template <class Word>
struct word_value {
  bool fits;
  Word bits;
};

template <class Word, class Given>
word_value<Word> word_value_of(Given given, value_kind kind) {
  using number = std::conditional_t<sizeof(Word) == 4, std::int32_t, std::int64_t>;
  using floating = std::conditional_t<sizeof(Word) == 4, float, double>;
  Word bits = 0;
  if (kind == value_kind::floating) {
    // Relations do not distinguish -0 and 0.
    const floating rounded = static_cast<floating>(given) + floating{0};
    std::memcpy(&bits, &rounded, sizeof bits);
    return {true, bits};
  }
  if constexpr (std::is_integral_v<Given>) {
    const bool fits = kind == value_kind::number ? std::in_range<number>(given) : std::in_range<Word>(given);
    return {fits, static_cast<Word>(given)};
  }
  return {false, 0};
}

/// Appends the words of one column from a sequence of arrays.
class column_of_arrays {
 public:
  column_of_arrays(std::uint32_t relation, std::size_t column, detail::run_context& run)
      : declared_(run.relation(relation)),
        attribute_(declared_.attributes[column]),
        run_(run),
        structured_(run.structured()),
        words_(run.values.memory),
        tasks_(std::make_unique<io::task_runner>(run.options.jobs)) {}

  void append(const ArrowSchema& schema, const array_range& range) {
    if (range.length == 0) return;
    if (const auto null = first_null(range)) throw null_at(words_.size() + static_cast<std::uint64_t>(*null));
    make_room(static_cast<std::uint64_t>(range.length));
    const text_layout layout = layout_of(schema.format);
    if (schema.dictionary != nullptr) {
      append_coded(schema, range);
    } else if (layout != text_layout::none && takes_texts()) {
      append_texts(range, layout);
    } else if (const auto decimals = detail::decimal_layout_of(schema.format); decimals && !takes_texts()) {
      append_decimals(schema, range, *decimals);
    } else if (takes_texts() || !takes(schema.format) || !visit_numbers(schema.format, range, [&](const auto* values) {
                 append_numbers(values, static_cast<std::uint64_t>(range.length));
               })) {
      throw wrong_type(schema);
    }
  }

  [[nodiscard]] backend::array<word>& words() { return words_; }

 private:
  [[nodiscard]] bool takes_texts() const {
    return attribute_.kind == value_kind::symbol || io::is_structured(attribute_.kind);
  }

  /// Returns whether numbers of the format may be values of the attribute.
  [[nodiscard]] bool takes(std::string_view format) const {
    return attribute_.kind == value_kind::floating || (format != "f" && format != "g");
  }

  /// Grows in large steps, because there may be many arrays.
  void make_room(std::uint64_t rows) {
    const std::uint64_t wanted = words_.size() + rows;
    if (wanted > words_.capacity())
      words_.set_capacity(std::max(wanted, words_.size() == 0 ? 0 : 2 * words_.capacity()));
  }

  void append_texts(const array_range& range, text_layout layout) {
    const auto text_of = [&](std::uint64_t row) {
      return text_at(range.array, layout, range.first + static_cast<std::int64_t>(row));
    };
    const auto rows = static_cast<std::uint64_t>(range.length);
    if (attribute_.kind == value_kind::symbol) {
      const std::uint64_t before = words_.size();
      words_.resize(before + rows);
      detail::intern_texts(run_.values.symbols, text_of, rows, words_.data() + before, *tasks_);
    } else {
      for (std::uint64_t row = 0; row < rows; ++row) words_.push_back(word_of(text_of(row), words_.size()));
    }
  }

  /// @param row for error messages
  word word_of(std::string_view text, std::uint64_t row) {
    if (attribute_.kind == value_kind::symbol) return run_.values.symbols.intern(text);
    word value = 0;
    if (!io::parse_structured(text, {attribute_.kind, attribute_.structure}, structured_, run_.values.symbols, value)) {
      throw input_error(fmt::format("row {} of attribute {} of relation {} is no {}: {}", row, attribute_.name,
                                    declared_.name, attribute_.type_name, text));
    }
    return value;
  }

  /// Interns a text of the dictionary at its first occurrence, because rows may use few of the texts. Further
  /// occurrences are a table lookup.
  void append_coded(const ArrowSchema& schema, const array_range& range) {
    const text_layout layout = layout_of(schema.dictionary->format);
    if (layout == text_layout::none || !takes_texts()) throw wrong_type(schema);
    const ArrowArray& texts = *range.array.dictionary;
    const std::uint64_t before = words_.size();
    const auto first_look = [&](std::uint64_t code, std::uint64_t row) {
      if (code >= static_cast<std::uint64_t>(texts.length))
        throw input_error("a dictionary has no number " + std::to_string(code));
      const auto place = static_cast<std::int64_t>(code) + texts.offset;
      if (!has_value(texts, place)) throw null_at(before + row);
      return word_of(text_at(texts, layout, place), before + row);
    };
    words_.resize(before + static_cast<std::uint64_t>(range.length));
    word* const made = words_.data() + before;
    // No symbol has this number. A record with this number would be looked up for each row.
    constexpr word unknown = UINT32_MAX;
    long_vector<word> words_of_codes(static_cast<std::size_t>(texts.length), unknown);
    const bool is_number = visit_numbers(schema.format, range, [&](const auto* codes) {
      for (std::int64_t row = 0; row < range.length; ++row) {
        const auto code = static_cast<std::uint64_t>(codes[row]);
        word found = code < words_of_codes.size() ? words_of_codes[code] : unknown;
        if (found == unknown) {
          found = first_look(code, static_cast<std::uint64_t>(row));
          words_of_codes[code] = found;
        }
        made[row] = found;
      }
    });
    if (!is_number) throw wrong_type(schema);
  }

  /// Appends decimals: whole numbers to numbers, any decimals to floats.
  void append_decimals(const ArrowSchema& schema, const array_range& range, const detail::decimal_layout& layout) {
    const auto rows = static_cast<std::uint64_t>(range.length);
    if (attribute_.kind == value_kind::floating) {
      long_vector<double> floats(rows);
      for (std::uint64_t row = 0; row < rows; ++row)
        floats[row] = decimal_at(range, layout, row).to_double(layout.scale);
      return append_numbers(floats.data(), rows);
    }
    if (layout.scale != 0) throw wrong_type(schema);
    long_vector<std::int64_t> numbers(rows);
    for (std::uint64_t row = 0; row < rows; ++row) {
      const detail::decimal value = decimal_at(range, layout, row);
      const bool fits = attribute_.kind == value_kind::number ? value.is_signed_word() : value.is_unsigned_word();
      if (!fits) throw no_number_of(64, words_.size() + row, value.to_double(0));
      numbers[row] = value.low;
    }
    if (attribute_.kind == value_kind::number) return append_numbers(numbers.data(), rows);
    append_numbers(reinterpret_cast<const std::uint64_t*>(numbers.data()), rows);
  }

  template <class Given>
  void append_numbers(const Given* values, std::uint64_t rows) {
    if (run_.values.wide) {
      append_wide(values, rows);
      return;
    }
    const std::uint64_t before = words_.size();
    words_.resize(before + rows);
    if (!convert(values, rows, words_.data() + before)) throw out_of_range(values, rows, word{}, before);
  }

  template <class Given>
  void append_wide(const Given* values, std::uint64_t rows) {
    wide_word bits[values_at_a_time];
    for (std::uint64_t first = 0; first < rows; first += values_at_a_time) {
      const std::uint64_t n = std::min(values_at_a_time, rows - first);
      const std::uint64_t before = words_.size();
      if (!convert(values + first, n, bits)) throw out_of_range(values + first, n, wide_word{}, before);
      words_.resize(before + n);
      run_.values.wide->codes(bits, static_cast<std::uint32_t>(n), words_.data() + before);
    }
  }

  /// Without branches, so that the compiler can vectorize the loop.
  /// @return whether all values fit
  template <class Given, class Word>
  bool convert(const Given* values, std::uint64_t rows, Word* bits) const {
    const auto all_of = [&](value_kind kind) {
      bool fit = true;
      for (std::uint64_t row = 0; row < rows; ++row) {
        const word_value<Word> value = word_value_of<Word>(values[row], kind);
        bits[row] = value.bits;
        fit &= value.fits;
      }
      return fit;
    };
    if (attribute_.kind == value_kind::number) return all_of(value_kind::number);
    return attribute_.kind == value_kind::floating ? all_of(value_kind::floating) : all_of(value_kind::unsigned_number);
  }

  template <class Given, class Word>
  [[nodiscard]] input_error out_of_range(const Given* values, std::uint64_t rows, Word, std::uint64_t before) const {
    std::uint64_t row = 0;
    while (row + 1 < rows && word_value_of<Word>(values[row], attribute_.kind).fits) ++row;
    const bool fits_64 = word_value_of<wide_word>(values[row], attribute_.kind).fits;
    const std::string hint = fits_64 ? "; with " + option_named("word-size", "64") + " it fits" : "";
    return no_number_of(8 * sizeof(Word), before + row, values[row], hint);
  }

  template <class Given>
  [[nodiscard]] input_error no_number_of(std::size_t bits, std::uint64_t row, Given value,
                                         const std::string& hint = {}) const {
    return input_error(fmt::format("row {} of attribute {} of relation {} is no {} of {} bits: {}{}", row,
                                   attribute_.name, declared_.name, sema::kind_name(attribute_.kind), bits, value,
                                   hint));
  }

  [[nodiscard]] input_error null_at(std::uint64_t row) const {
    return input_error(
        fmt::format("row {} of attribute {} of relation {} is null", row, attribute_.name, declared_.name));
  }

  [[nodiscard]] input_error wrong_type(const ArrowSchema& schema) const {
    const std::string given = name_of_format(schema);
    const bool could_fit = !takes_texts() && (given == "floats" || given == "decimals");
    return input_error(
        fmt::format("attribute {} of relation {} is of type {}, and not for {}{}", attribute_.name, declared_.name,
                    sema::kind_name(attribute_.kind), given,
                    could_fit ? ": convert the column to integers, or declare the attribute as float" : ""));
  }

  const sema::relation& declared_;
  const sema::attribute& attribute_;
  detail::run_context& run_;
  io::structured_columns structured_;
  backend::array<word> words_;
  std::unique_ptr<io::task_runner> tasks_;
};

/// Calls visit(schema, array) for each array of a stream.
/// @throws input_error for errors of the stream
template <class Prepare, class Visit>
void read_stream(ArrowArrayStream& stream, const Prepare& prepare, const Visit& visit) {
  const auto check = [&stream](int status) {
    if (status == 0) return;
    const char* const message = stream.get_last_error(&stream);
    throw input_error(std::string("a stream of Arrow arrays fails: ") +
                      (message == nullptr ? std::strerror(status) : message));
  };
  owned<ArrowSchema> schema;
  check(stream.get_schema(&stream, &schema.get()));
  prepare(schema.get());
  for (;;) {
    owned<ArrowArray> array;
    check(stream.get_next(&stream, &array.get()));
    if (array.get().release == nullptr) return;
    visit(schema.get(), array.get());
  }
}

bool has_fields(const ArrowSchema& schema) { return std::string_view(schema.format) == "+s"; }

/// Returns, for each attribute, the number of the field with its values.
/// @throws input_error
std::vector<std::size_t> fields_for(const sema::relation& declared, const ArrowSchema& schema) {
  const std::size_t arity = declared.attributes.size();
  if (static_cast<std::size_t>(schema.n_children) != arity) {
    throw input_error(fmt::format("relation {} has {} attributes, but {} columns were given", declared.name, arity,
                                  schema.n_children));
  }
  std::vector<std::size_t> fields(arity);
  std::string missing;
  std::size_t named = 0;
  for (std::size_t c = 0; c < arity; ++c) {
    const auto is_its = [&](const ArrowSchema* field) {
      return field->name != nullptr && field->name == declared.attributes[c].name;
    };
    const auto* const found = std::find_if(schema.children, schema.children + arity, is_its);
    if (found == schema.children + arity) {
      missing = declared.attributes[c].name;
    } else {
      ++named;
      fields[c] = static_cast<std::size_t>(found - schema.children);
    }
  }
  if (named != 0 && named != arity) {
    throw input_error(
        fmt::format("no column is named {}, as an attribute of relation {} is; others are", missing, declared.name));
  }
  for (std::size_t c = 0; named == 0 && c < arity; ++c) fields[c] = c;
  return fields;
}

/// Columns to be inserted.
class incoming_rows {
 public:
  incoming_rows(std::uint32_t relation, detail::engine_state& engine)
      : relation_(relation), engine_(engine), declared_(engine.run().relation(relation)) {
    engine.results().require_changeable(relation);
    columns_.reserve(declared_.attributes.size());
    for (std::size_t c = 0; c < declared_.attributes.size(); ++c) columns_.emplace_back(relation, c, engine.run());
  }

  void read_rows(ArrowArrayStream& rows) {
    std::vector<std::size_t> fields;
    const auto prepare = [&](const ArrowSchema& schema) {
      if (has_fields(schema)) fields = fields_for(declared_, schema);
      if (!has_fields(schema) && columns_.size() != 1) {
        throw input_error(
            fmt::format("relation {} has {} attributes, but one column was given", declared_.name, columns_.size()));
      }
    };
    read_stream(rows, prepare, [&](const ArrowSchema& schema, const ArrowArray& array) {
      if (!has_fields(schema)) {
        columns_.front().append(schema, {array, array.offset, array.length});
        return;
      }
      if (const auto null = first_null({array, array.offset, array.length})) {
        throw input_error(
            fmt::format("row {} for relation {} is null", rows_ + static_cast<std::uint64_t>(*null), declared_.name));
      }
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const ArrowArray& values = *array.children[fields[c]];
        columns_[c].append(*schema.children[fields[c]], {values, values.offset + array.offset, array.length});
      }
      rows_ += static_cast<std::uint64_t>(array.length);
    });
  }

  void read_column(std::size_t number, ArrowArrayStream& column) {
    read_stream(
        column, [](const ArrowSchema&) {},
        [&](const ArrowSchema& schema, const ArrowArray& array) {
          columns_[number].append(schema, {array, array.offset, array.length});
        });
  }

  void insert() {
    detail::staged_rows block = taken();
    if (block.rows != 0) engine_.facts().stage(relation_, std::move(block));
  }

  void erase() { engine_.facts().erase(relation_, taken(), !engine_.results().has_begun()); }

 private:
  /// Returns all rows, and leaves none.
  [[nodiscard]] detail::staged_rows taken() {
    detail::staged_rows block;
    if (!columns_.empty()) rows_ = columns_.front().words().size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      backend::array<word>& words = columns_[c].words();
      if (words.size() != rows_) {
        throw input_error(fmt::format("attribute {} of relation {} has {} values, but attribute {} has {}",
                                      declared_.attributes[c].name, declared_.name, words.size(),
                                      declared_.attributes[0].name, rows_));
      }
      words.set_capacity(rows_);
      block.columns.push_back(std::move(words));
    }
    block.rows = rows_;
    return block;
  }

  std::uint32_t relation_;
  detail::engine_state& engine_;
  const sema::relation& declared_;
  std::vector<column_of_arrays> columns_;
  std::uint64_t rows_ = 0;
};

/// Reads rows, and does something with them.
template <class Read, class Work>
void with_rows(std::uint32_t relation, detail::engine_state& engine, const Read& read, const Work& work) {
  try {
    incoming_rows incoming(relation, engine);
    read(incoming);
    work(incoming);
  } catch (const backend::memory_exceeded& fault) {
    throw detail::out_of_memory("inserting into relation " + engine.run().relation(relation).name, fault,
                                engine.run().values.memory);
  } catch (const std::length_error& fault) {
    throw memory_limit_error(fault.what());  // too many distinct values for a word
  }
}

void insert_rows(incoming_rows& rows) { rows.insert(); }
void erase_rows(incoming_rows& rows) { rows.erase(); }

/// Returns a function that reads one stream per attribute.
/// @throws input_error for a wrong number of streams
auto reading_columns(const relation& target, std::span<ArrowArrayStream* const> columns) {
  if (columns.size() != target.arity()) {
    throw input_error(fmt::format("relation {} has {} attributes, but {} columns were given", target.name(),
                                  target.arity(), columns.size()));
  }
  if (columns.empty()) {
    throw input_error("relation " + target.name() + " has no attributes: how many tuples there are is unknown");
  }
  return [columns](incoming_rows& incoming) {
    for (std::size_t c = 0; c < columns.size(); ++c) incoming.read_column(c, *columns[c]);
  };
}

}  // namespace

void relation::insert_arrow(ArrowArrayStream& rows) {
  with_rows(
      relation_, *engine_, [&](incoming_rows& incoming) { incoming.read_rows(rows); }, insert_rows);
}

void relation::erase_arrow(ArrowArrayStream& rows) {
  with_rows(
      relation_, *engine_, [&](incoming_rows& incoming) { incoming.read_rows(rows); }, erase_rows);
}

void relation::insert_arrow_columns(std::span<ArrowArrayStream* const> columns) {
  with_rows(relation_, *engine_, reading_columns(*this, columns), insert_rows);
}

void relation::erase_arrow_columns(std::span<ArrowArrayStream* const> columns) {
  with_rows(relation_, *engine_, reading_columns(*this, columns), erase_rows);
}

}  // namespace gpulog
