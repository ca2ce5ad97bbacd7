#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpulog/arrow.hpp"
#include "gpulog/export.hpp"
#include "gpulog/value.hpp"

namespace gpulog {

namespace detail {
struct engine_state;
}

/// The values of a column, one a tuple; the alternative has to fit the attribute's type, as that of a value.
using column_values =
    std::variant<std::span<const std::int32_t>, std::span<const std::uint32_t>, std::span<const float>,
                 std::span<const std::string>, std::span<const std::string_view>, std::span<const std::int64_t>,
                 std::span<const std::uint64_t>, std::span<const double>>;

/// A column of any type: as column_values, or with records and branches.
using typed_column =
    std::variant<std::span<const std::int32_t>, std::span<const std::uint32_t>, std::span<const float>,
                 std::span<const std::string>, std::span<const std::string_view>, std::span<const std::int64_t>,
                 std::span<const std::uint64_t>, std::span<const double>, std::span<const value>,
                 std::span<const record>, std::span<const branch>>;

/// Name and type of a column.
struct attribute {
  std::string name;
  std::string type;           ///< one of number, unsigned, float, symbol, record, adt
  std::string declared_type;  ///< its name in the text, as "Town" with `.type Town <: symbol`
  std::string structure;      ///< of records and branches: the name of one of program::types()
};

/// One row of a relation; valid as long as its engine is, until the engine is changed.
class GPULOG_API tuple {
 public:
  [[nodiscard]] std::size_t size() const;
  /// The bits of the column, whatever its type. @throws input_error outside of columns 0..size()-1, as all here do, and
  /// as those of 32 bits do for a value that needs more (in programs with words of 64).
  [[nodiscard]] std::uint32_t word(std::size_t column) const;
  [[nodiscard]] std::int32_t number(std::size_t column) const;
  [[nodiscard]] std::uint32_t unsigned_number(std::size_t column) const;
  [[nodiscard]] float floating(std::size_t column) const;
  /// The same for words of any size.
  [[nodiscard]] std::uint64_t word64(std::size_t column) const;
  [[nodiscard]] std::int64_t number64(std::size_t column) const;
  [[nodiscard]] std::uint64_t unsigned_number64(std::size_t column) const;
  [[nodiscard]] double floating64(std::size_t column) const;
  [[nodiscard]] std::string_view symbol(std::size_t column) const;
  /// The column, whatever its type; numbers and floats have the width of the program's words. @throws input_error for
  /// records and branches that are larger than a value may be; memory_limit_error
  [[nodiscard]] gpulog::value value(std::size_t column) const;
  /// The column as an output file has it.
  [[nodiscard]] std::string text(std::size_t column) const;

 private:
  friend class relation;
  tuple(const detail::engine_state* engine, std::uint32_t relation, std::uint64_t row)
      : engine_(engine), relation_(relation), row_(row) {}
  [[nodiscard]] std::uint32_t stored_word(std::size_t column) const;

  const detail::engine_state* engine_ = nullptr;
  std::uint32_t relation_ = 0;
  std::uint64_t row_ = 0;
};

/// A column of results in this machine's memory.
struct host_column {
  /// One a tuple, in the order of iteration. Numbers, unsigned numbers and floats have the width of the program's
  /// words; symbols are std::string_view; records and branches are `value`.
  typed_column values;
  bool is_copy = false;               ///< made for this column; else where the engine has it
  std::shared_ptr<const void> owner;  ///< keeps what is needed of the engine and of this evaluation
};

/// A column of numbers in the memory of a device. Nobody may write to it.
struct device_column {
  const void* values = nullptr;
  std::uint64_t rows = 0;
  /// Of the values, as the Arrow C data interface writes them: "i" for std::int32_t, "I" for std::uint32_t, "f" for
  /// float; of columns that go in, also c, C, s, S, l, L (8, 16 and 64 bits) and "g" for double.
  std::string format;
  std::string vendor;            ///< whose device: "cuda", "hip", or "emulated"
  int device = 0;                ///< its number
  const void* stream = nullptr;  ///< as the vendor has it. Of a result: the engine's, on which all work is done. Of
                                 ///< what goes in: the one that it is computed on, which is waited for
  std::shared_ptr<const void> owner;  ///< of a result: keeps what is needed of the engine and of this evaluation
};

/// Copies a column of a device into memory of this machine. @param into has room for its rows
/// @throws input_error where this build has no devices of that vendor, or the machine none of that number
GPULOG_API void copy_to_host(const device_column& column, void* into);

/// A relation of an engine: a handle, valid as long as the engine. Iteration gives every tuple once, in no order to
/// rely on.
class GPULOG_API relation {
 public:
  class iterator {
   public:
    using value_type = tuple;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using reference = tuple;
    using pointer = void;

    iterator() = default;
    tuple operator*() const { return {engine_, relation_, row_}; }
    iterator& operator++() {
      ++row_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++row_;
      return before;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend class relation;
    iterator(const detail::engine_state* engine, std::uint32_t relation, std::uint64_t row)
        : engine_(engine), relation_(relation), row_(row) {}
    const detail::engine_state* engine_ = nullptr;
    std::uint32_t relation_ = 0;
    std::uint64_t row_ = 0;
  };

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::size_t arity() const;
  [[nodiscard]] std::vector<attribute> attributes() const;
  /// Number of tuples; before the first evaluation, of those inserted or loaded.
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// Adds one tuple to the facts; after an evaluation, for the next one. @throws input_error when the number or the
  /// types of the values do not fit, while the engine evaluates, or after that has failed; memory_limit_error.
  void insert(std::span<const value> values);
  void insert(std::initializer_list<value> values) { insert(std::span<const value>(values.begin(), values.size())); }

  /// Adds as many tuples as each column has values, all of them or none. The values are copied. @throws as insert does,
  /// and input_error for columns of different lengths or for a relation without attributes
  void insert_columns(std::span<const typed_column> columns);
  void insert_columns(std::initializer_list<typed_column> columns) {
    insert_columns(std::span<const typed_column>(columns.begin(), columns.size()));
  }

  /// The same of columns that a device has, with the types that insert_arrow takes. They are copied to this machine,
  /// which has the facts of an engine. @throws as insert_arrow_columns and copy_to_host do
  void insert_device_columns(std::span<const device_column> columns);

  /// Takes a tuple away from the facts, whether it was inserted, loaded, or stands in the program's text; for the next
  /// evaluation. A tuple that is no fact stays as it is: one that rules derive is there as long as they derive it.
  /// @throws input_error as insert does
  void erase(std::span<const value> values);
  void erase(std::initializer_list<value> values) { erase(std::span<const value>(values.begin(), values.size())); }

  /// Adds the rows of a stream of Arrow arrays, all of them or none. Struct arrays have a field for each attribute: by
  /// their names where these are the attributes', by their places where none is; an array of another type is the one
  /// column of a relation. Any integers that fit are taken for numbers and unsigned numbers, any numbers for floats
  /// (rounded to the size of a word), texts, bytes and dictionaries of them for symbols, and for records and branches
  /// as a file of facts has them. The values are copied; the stream is read to its end and stays the caller's.
  /// @throws as insert_columns does, and input_error for nulls
  void insert_arrow(ArrowArrayStream& rows);

  /// The same with a stream for each attribute.
  void insert_arrow_columns(std::span<ArrowArrayStream* const> columns);

  /// Makes a stream of the tuples that it has now: struct arrays with the names of the attributes. Numbers, unsigned
  /// numbers and floats of 32 bits are not copied after an evaluation; records and branches are texts that insert_arrow
  /// reads. The stream and its arrays keep alive what they need of the engine and of this evaluation, whatever becomes
  /// of the engine, and may be released by any thread. Reading the stream fails for texts that are no UTF-8, unless
  /// they are wanted as bytes. @throws memory_limit_error
  void to_arrow(ArrowArrayStream& made, const arrow_options& options = {}) const;

  /// The values of an attribute, for all tuples that it has now. Numbers, unsigned numbers and floats of 32 bits are
  /// not copied after an evaluation, but of an equivalence relation. @throws input_error for a column that there is
  /// not, and for a value that tuple::value would not give; memory_limit_error
  [[nodiscard]] host_column column(std::size_t number) const;

  /// A column of results where it is; to_arrow would copy it to the host. Numbers, unsigned numbers and floats of 32
  /// bits only. Nothing of one that the host has.
  [[nodiscard]] std::optional<device_column> on_device(std::size_t column) const;

  /// Whether one of its tuples has these values. The first question after an evaluation takes time and memory (16 bytes
  /// a tuple) for an index, those that follow do not; before the first evaluation each one looks at all tuples. @throws
  /// input_error when the number or the types of the values do not fit; memory_limit_error
  [[nodiscard]] bool contains(std::span<const value> values) const;
  [[nodiscard]] bool contains(std::initializer_list<value> values) const {
    return contains(std::span<const value>(values.begin(), values.size()));
  }

  [[nodiscard]] iterator begin() const { return {engine_, relation_, 0}; }
  [[nodiscard]] iterator end() const { return {engine_, relation_, size()}; }

 private:
  friend class engine;
  relation(detail::engine_state* engine, std::uint32_t number) : engine_(engine), relation_(number) {}
  detail::engine_state* engine_;
  std::uint32_t relation_;
};

}  // namespace gpulog
