#include "engine/rows/typed_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/rows/value_bits.hpp"
#include "engine/run_context.hpp"
#include "gpulog/error.hpp"
#include "io/values/structured_value.hpp"
#include "sema/types/types.hpp"
#include "support/suggestion.hpp"

namespace gpulog::detail {
namespace {

/// Error description of a value, in a sentence; empty if only the type is wrong.
struct misfit {
  std::string why;
};

std::string name_of(const value_type& type, const std::vector<structure_type>& structures) {
  return io::is_structured(type.kind) ? structures[type.structure.value].name : std::string(sema::kind_name(type.kind));
}

const branch_type* find_branch(const structure_type& type, std::string_view name) {
  const auto found = std::find_if(type.branches.begin(), type.branches.end(),
                                  [name](const branch_type& branch) { return branch.name == name; });
  return found == type.branches.end() ? nullptr : &*found;
}

/// Converts values to words. Each function returns nothing for a valid value that the engine does not contain, and
/// throws a misfit for an invalid value.
class value_reader {
 public:
  value_reader(run_context& context, bool adds)
      : context_(context), structures_(context.analysed().structures), columns_(context.structured()), adds_(adds) {}

  std::optional<word> read(const value& given, const value_type& type) {
    if (const auto* text = std::get_if<std::string>(&given)) return read_text(*text, type);
    if (const auto* fields = std::get_if<record>(&given)) return read(*fields, type);
    if (const auto* chosen = std::get_if<branch>(&given)) return read(*chosen, type);
    if (std::holds_alternative<nil_record>(given) && type.kind == value_kind::record) return storage::nil_record;
    const auto bits = std::visit(bits_of_value(type.kind, context_.values.wide.has_value()), given);
    if (!bits) throw misfit{};
    if (adds_ || !context_.values.wide) return storage::word_of(*bits, context_.values.wide_or_none());
    const word code = context_.values.wide->known_code(*bits);
    return code == storage::wide_values::no_code ? std::nullopt : std::optional(code);
  }

  std::optional<word> read(const std::string& text, const value_type& type) { return read_text(text, type); }
  std::optional<word> read(std::string_view text, const value_type& type) { return read_text(text, type); }

  std::optional<word> read(const record& given, const value_type& type) {
    if (type.kind != value_kind::record) throw misfit{};
    const structure_type& declared = structures_[type.structure.value];
    const auto words = read_fields(given.fields, declared.fields, declared.name);
    return words ? record_of(*words) : std::nullopt;
  }

  std::optional<word> read(const branch& given, const value_type& type) {
    if (type.kind != value_kind::adt) throw misfit{};
    const structure_type& structure = structures_[type.structure.value];
    const branch_type* const declared = find_branch(structure, given.name());
    if (declared == nullptr) {
      std::vector<std::string> names;
      for (const branch_type& one : structure.branches) names.push_back(one.name);
      throw misfit{
          fmt::format("{} has no branch {}{}", structure.name, given.name(), did_you_mean(given.name(), names))};
    }
    const auto number = static_cast<word>(declared - structure.branches.data());
    const auto words = read_fields(given.fields(), declared->fields, "branch " + declared->name);
    if (structure.is_enumeration() || !words) return words ? std::optional(number) : std::nullopt;
    std::optional<word> payload = record_without_fields;
    if (words->size() == 1) payload = words->front();
    if (words->size() > 1) payload = record_of(*words);
    return payload ? record_of({number, *payload}) : std::nullopt;
  }

 private:
  std::optional<word> read_text(std::string_view text, const value_type& type) {
    if (type.kind == value_kind::symbol)
      return adds_ ? context_.values.symbols.intern(text) : context_.values.symbols.find(text);
    if (!io::is_structured(type.kind)) throw misfit{};
    word parsed = 0;
    if (!io::parse_structured(text, type, columns_, context_.values.symbols, parsed)) {
      throw misfit{fmt::format("{} has no text {}", name_of(type, structures_), text)};
    }
    return parsed;
  }

  std::optional<std::vector<word>> read_fields(const std::vector<value>& given, const std::vector<field_type>& fields,
                                               const std::string& owner) {
    if (given.size() != fields.size()) {
      throw misfit{fmt::format("{} has {} fields, but {} were given", owner, fields.size(), given.size())};
    }
    if (++depth_ > deepest_value) throw misfit{fmt::format("it is nested more than {} times", deepest_value)};
    std::vector<word> words;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      try {
        if (const auto read_word = read(given[i], fields[i].type)) words.push_back(*read_word);
      } catch (const misfit& fault) {
        if (!fault.why.empty()) throw;
        throw misfit{
            fmt::format("field {} of {} is of type {}", fields[i].name, owner, name_of(fields[i].type, structures_))};
      }
    }
    --depth_;
    return words.size() == fields.size() ? std::optional(std::move(words)) : std::nullopt;
  }

  std::optional<word> record_of(const std::vector<word>& fields) {
    storage::record_table& table = context_.values.records[static_cast<std::uint32_t>(fields.size())];
    if (adds_) return table.intern(fields.data());
    const word found = table.find(fields.data());
    return found == storage::nil_record ? std::nullopt : std::optional(found);
  }

  run_context& context_;
  const std::vector<structure_type>& structures_;
  io::structured_columns columns_;
  bool adds_;
  std::size_t depth_ = 0;
};

/// Returns the word of a value; empty if the engine does not contain the value. With `adds`, adds missing values.
/// @param place prefix of error messages
/// @throws input_error, memory_limit_error
template <class Given>
std::optional<word> word_of(const Given& given, std::uint32_t relation, std::size_t column, run_context& context,
                            bool adds, const std::function<std::string()>& place) {
  const sema::relation& declared = context.analysed().relations[relation];
  const sema::attribute& attribute = declared.attributes[column];
  const value_type type{attribute.kind, attribute.structure};
  try {
    return value_reader(context, adds).read(given, type);
  } catch (const misfit& fault) {
    throw input_error(fmt::format("{}attribute {} of relation {} is of type {}{}{}", place(), attribute.name,
                                  declared.name, name_of(type, context.analysed().structures),
                                  fault.why.empty() ? "" : ": ", fault.why));
  } catch (const backend::memory_exceeded& fault) {
    const std::string doing = adds ? "inserting into relation " : "looking for a row of relation ";
    throw out_of_memory(doing + declared.name, fault, context.values.memory);
  } catch (const std::length_error& fault) {
    throw memory_limit_error(fault.what());  // too many distinct values for a word
  }
}

std::optional<std::vector<word>> row_of(std::span<const value> values, std::uint32_t relation, run_context& context,
                                        bool adds) {
  const sema::relation& declared = context.analysed().relations[relation];
  if (values.size() != declared.attributes.size()) {
    throw input_error(fmt::format("relation {} has {} attributes, but {} values were given", declared.name,
                                  declared.attributes.size(), values.size()));
  }
  std::vector<word> words;
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (const auto read = word_of(values[c], relation, c, context, adds, [] { return std::string(); }))
      words.push_back(*read);
  }
  return words.size() == values.size() ? std::optional(std::move(words)) : std::nullopt;
}

/// Converts words to values.
class value_maker {
 public:
  explicit value_maker(const run_context& context) : context_(context), structures_(context.analysed().structures) {}

  value make(word stored, const value_type& type) {
    if (++made_ > largest_value) throw too_large("has more than", largest_value, "values in it");
    switch (type.kind) {
      case value_kind::symbol:
        return std::string(context_.values.symbols.text(stored));
      case value_kind::record:
        return make_record(stored, structures_[type.structure.value]);
      case value_kind::adt:
        return make_branch(stored, structures_[type.structure.value]);
      default:
        return make_number(storage::value_of(stored, context_.values.wide_or_none()), type.kind);
    }
  }

 private:
  [[nodiscard]] value make_number(wide_word bits, value_kind kind) const {
    const auto half = static_cast<std::uint32_t>(bits);
    if (kind == value_kind::number)
      return context_.values.wide ? value(std::bit_cast<std::int64_t>(bits)) : value(std::bit_cast<std::int32_t>(half));
    if (kind == value_kind::unsigned_number) return context_.values.wide ? value(std::uint64_t{bits}) : value(half);
    return context_.values.wide ? value(std::bit_cast<double>(bits)) : value(std::bit_cast<float>(half));
  }

  value make_record(word stored, const structure_type& type) {
    const word* const words = fields_of(stored, type.fields.size());
    if (words == nullptr) return nil;
    return record{make_fields(words, type.fields)};
  }

  /// Converts a branch in the same way as the text printer, including words that as() created from other types.
  value make_branch(word stored, const structure_type& type) {
    const word* const tagged = type.is_enumeration() ? nullptr : fields_of(stored, 2);
    const word number = tagged == nullptr ? stored : tagged[0];
    const bool is_value = type.is_enumeration() || tagged != nullptr;
    if (!is_value || number >= type.branches.size()) return branch("?");
    const branch_type& chosen = type.branches[number];
    if (chosen.fields.empty() || tagged == nullptr) return branch(chosen.name);
    const word* const words = chosen.fields.size() == 1 ? tagged + 1 : fields_of(tagged[1], chosen.fields.size());
    return words == nullptr ? branch(chosen.name) : branch(chosen.name, make_fields(words, chosen.fields));
  }

  std::vector<value> make_fields(const word* words, const std::vector<field_type>& fields) {
    if (++depth_ > deepest_value) throw too_large("is nested more than", deepest_value, "times");
    std::vector<value> made;
    made.reserve(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) made.push_back(make(words[i], fields[i].type));
    --depth_;
    return made;
  }

  /// Returns nullptr if the record does not exist.
  [[nodiscard]] const word* fields_of(word stored, std::size_t arity) const {
    const storage::record_table& table = context_.values.records[static_cast<std::uint32_t>(arity)];
    return table.has(stored) ? table.fields(stored) : nullptr;
  }

  [[nodiscard]] static input_error too_large(std::string_view what, std::size_t most, std::string_view unit) {
    return input_error(fmt::format("a value {} {} {}: it has a text only", what, most, unit));
  }

  const run_context& context_;
  const std::vector<structure_type>& structures_;
  std::size_t depth_ = 0;
  std::size_t made_ = 0;
};

}  // namespace

std::vector<word> new_row_of(std::span<const value> values, std::uint32_t relation, run_context& context) {
  return row_of(values, relation, context, true).value();
}

std::optional<std::vector<word>> known_row_of(std::span<const value> values, std::uint32_t relation,
                                              run_context& context) {
  return row_of(values, relation, context, false);
}

template <class Given>
void append_new_words(std::span<const Given> values, std::uint32_t relation, std::size_t column, run_context& context,
                      backend::array<word>& words) {
  for (std::size_t row = 0; row < values.size(); ++row) {
    const auto place = [row] { return fmt::format("row {}: ", row); };
    words.push_back(word_of(values[row], relation, column, context, true, place).value());
  }
}
template void append_new_words(std::span<const value>, std::uint32_t, std::size_t, run_context&, backend::array<word>&);
template void append_new_words(std::span<const std::string>, std::uint32_t, std::size_t, run_context&,
                               backend::array<word>&);
template void append_new_words(std::span<const std::string_view>, std::uint32_t, std::size_t, run_context&,
                               backend::array<word>&);
template void append_new_words(std::span<const record>, std::uint32_t, std::size_t, run_context&,
                               backend::array<word>&);
template void append_new_words(std::span<const branch>, std::uint32_t, std::size_t, run_context&,
                               backend::array<word>&);

value value_of(word stored, const value_type& type, const run_context& context) {
  return value_maker(context).make(stored, type);
}

}  // namespace gpulog::detail
