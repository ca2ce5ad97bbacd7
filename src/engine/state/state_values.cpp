#include "engine/state/state_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace gpulog::detail {
namespace {

constexpr const char* lengths_section = "symbol lengths";
constexpr const char* texts_section = "symbol texts";
constexpr const char* wide_section = "wide values";
constexpr std::size_t buffered_bytes = std::size_t{1} << 20;

std::string records_section(std::size_t arity) { return fmt::format("records {}", arity); }

/// Collects small parts of a section.
class section_buffer {
 public:
  section_buffer(state_file_writer& file, std::size_t section) : file_(file), section_(section) {}

  void append(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= buffered_bytes) flush();
  }
  void flush() {
    file_.append(section_, buffer_);
    buffer_.clear();
  }

 private:
  state_file_writer& file_;
  std::size_t section_;
  std::string buffer_;
};

/// @param first number of symbols in the base of the file
void save_symbols(const storage::symbol_table& symbols, std::uint64_t first, std::uint64_t count,
                  state_file_writer& file) {
  std::uint64_t bytes = 0;
  for (std::uint64_t number = first; number < count; ++number) bytes += symbols.text(static_cast<word>(number)).size();
  const std::uint64_t length_bytes = (count - first) * sizeof(std::uint32_t);
  const bool extends = file.can_extend(lengths_section, length_bytes) && file.can_extend(texts_section, bytes);
  if (!extends && first != 0) return save_symbols(symbols, 0, count, file);
  const auto section = [&](const char* name, std::uint64_t size) {
    return extends ? file.extend(name, size) : file.reserve(name, size);
  };
  section_buffer lengths(file, section(lengths_section, length_bytes));
  section_buffer texts(file, section(texts_section, bytes));
  for (std::uint64_t number = first; number < count; ++number) {
    const std::string_view text = symbols.text(static_cast<word>(number));
    const auto length = static_cast<std::uint32_t>(text.size());
    lengths.append({reinterpret_cast<const char*>(&length), sizeof(length)});
    texts.append(text);
  }
  lengths.flush();
  texts.flush();
}

/// @param first number of records in the base of the file
void save_records(const storage::record_table& table, std::uint64_t first, std::uint64_t count, const std::string& name,
                  state_file_writer& file) {
  const std::size_t record_bytes = table.arity() * sizeof(word);
  const bool extends = first > 0 && file.can_extend(name, (count - first) * record_bytes);
  if (!extends) first = 0;
  const std::uint64_t bytes = (count - first) * record_bytes;
  const std::size_t section = extends ? file.extend(name, bytes) : file.reserve(name, bytes);
  if (count == first) return;
  table.for_each_run(static_cast<word>(first + 1), static_cast<word>(count), [&](const word* fields, std::uint64_t n) {
    file.append(section, {reinterpret_cast<const char*>(fields), static_cast<std::size_t>(n * record_bytes)});
  });
}

/// Calls visit(number, text) for all symbols in order.
template <class Visit>
void for_each_symbol(const state_file& file, const Visit& visit) {
  const std::string_view lengths = file.section(lengths_section);
  const std::string_view texts = file.section(texts_section);
  std::size_t begin = 0;
  for (std::uint64_t number = 0; number < lengths.size() / sizeof(std::uint32_t); ++number) {
    std::uint32_t length = 0;
    std::memcpy(&length, lengths.data() + number * sizeof(length), sizeof(length));
    if (!visit(number, texts.substr(begin, length))) return;
    begin += length;
  }
}

bool begins_with_symbols(const state_file& file, const storage::symbol_table& symbols) {
  std::uint64_t equal = 0;
  for_each_symbol(file, [&](std::uint64_t number, std::string_view text) {
    if (number == symbols.size() || symbols.text(static_cast<word>(number)) != text) return false;
    ++equal;
    return true;
  });
  return equal == symbols.size();
}

/// Prefetches slots, because each text would wait for memory.
void restore_symbols(const state_file& file, storage::symbol_table& symbols) {
  constexpr std::size_t batch = 64;
  std::vector<std::pair<std::string_view, storage::symbol_table::key>> waiting;
  const auto intern_all = [&] {
    for (const auto& [text, key] : waiting) symbols.intern(text, key);
    waiting.clear();
  };
  for_each_symbol(file, [&](std::uint64_t, std::string_view text) {
    symbols.prefetch_slot(waiting.emplace_back(text, storage::symbol_table::key_of(text)).second);
    if (waiting.size() == batch) intern_all();
    return true;
  });
  intern_all();
}

bool begins_with_records(std::string_view section, const storage::record_table& table) {
  const std::size_t record_bytes = table.arity() * sizeof(word);
  bool is_equal = table.size() * record_bytes <= section.size();
  for (word record = 1; is_equal && record <= table.size(); ++record)
    is_equal = std::memcmp(table.fields(record), section.data() + (record - 1) * record_bytes, record_bytes) == 0;
  return is_equal;
}

void adopt_records(std::string_view section, std::uint64_t count, storage::record_table& table) {
  const std::size_t record_bytes = table.arity() * sizeof(word);
  const char* next = section.data() + table.size() * record_bytes;
  table.adopt(count - table.size(), [&](word* fields, std::uint64_t n) {
    std::memcpy(fields, next, static_cast<std::size_t>(n) * record_bytes);
    next += n * record_bytes;
  });
}

}  // namespace

value_counts save_values(run_values& values, const value_counts* base, state_file_writer& file) {
  const value_counts before = base != nullptr ? *base : value_counts();
  value_counts counts;
  counts.symbols = values.symbols.size();
  save_symbols(values.symbols, before.symbols, counts.symbols, file);
  for (std::uint32_t arity = 0; arity < values.records.arities(); ++arity) {
    const std::uint64_t count = arity == 0 ? 0 : values.records[arity].size();  // arity 0 has one record, always
    counts.records.push_back(count);
    const std::uint64_t stored = arity < before.records.size() ? before.records[arity] : 0;
    if (count > 0) save_records(values.records[arity], stored, count, records_section(arity), file);
  }
  if (values.wide) {
    counts.wide = values.wide->size();
    save_records(values.wide->numbers(), before.wide, counts.wide, wide_section, file);
  }
  return counts;
}

std::vector<std::string> sections_of_values(const value_counts& counts) {
  std::vector<std::string> names = {lengths_section, texts_section};
  for (std::size_t arity = 0; arity < counts.records.size(); ++arity) {
    if (counts.records[arity] > 0) names.push_back(records_section(arity));
  }
  if (counts.wide > 0) names.emplace_back(wide_section);
  return names;
}

void restore_values(const state_file& file, const value_counts& counts, run_values& values) {
  const auto require = [](bool is_same) {
    if (!is_same) throw unusable_state("values of the program have other numbers in it");
  };
  require(begins_with_symbols(file, values.symbols));
  for (std::uint32_t arity = 1; arity < values.records.arities(); ++arity) {
    const bool is_stored = arity < counts.records.size() && counts.records[arity] > 0;
    require(begins_with_records(is_stored ? file.section(records_section(arity)) : "", values.records[arity]));
  }
  if (values.wide)
    require(begins_with_records(counts.wide > 0 ? file.section(wide_section) : "", values.wide->numbers()));
  restore_symbols(file, values.symbols);
  for (std::uint32_t arity = 1; arity < counts.records.size(); ++arity) {
    if (counts.records[arity] > 0)
      adopt_records(file.section(records_section(arity)), counts.records[arity], values.records[arity]);
  }
  if (counts.wide > 0) adopt_records(file.section(wide_section), counts.wide, values.wide->numbers());
}

}  // namespace gpulog::detail
