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
class engine_state;
}

/// The values of a column, one per tuple; the alternative must match the attribute's type, as for a value.
using column_values =
    std::variant<std::span<const std::int32_t>, std::span<const std::uint32_t>, std::span<const float>,
                 std::span<const std::string>, std::span<const std::string_view>, std::span<const std::int64_t>,
                 std::span<const std::uint64_t>, std::span<const double>>;

/// A column of any type: like column_values, or with records and branches.
using typed_column =
    std::variant<std::span<const std::int32_t>, std::span<const std::uint32_t>, std::span<const float>,
                 std::span<const std::string>, std::span<const std::string_view>, std::span<const std::int64_t>,
                 std::span<const std::uint64_t>, std::span<const double>, std::span<const value>,
                 std::span<const record>, std::span<const branch>>;

/// Name and type of a column.
struct attribute {
  std::string name;
  std::string type;           ///< number, unsigned, float, symbol, record or adt
  std::string declared_type;  ///< the type's name in the text, such as "Town" with `.type Town <: symbol`
  std::string structure;      ///< for records and branches: a name from program::types()
};

/// A row of a relation; valid during the lifetime of the engine, until the engine changes.
class GPULOG_API tuple {
 public:
  [[nodiscard]] std::size_t size() const;
  /// Returns the bits of the column, whatever its type.
  /// @throws input_error outside of columns 0..size()-1, and, in the 32-bit functions, for a value of a 64-bit program
  ///   that needs more than 32 bits; the functions below throw the same, and input_error for an attribute of a type
  ///   that the function does not name
  [[nodiscard]] std::uint32_t word(std::size_t column) const;
  [[nodiscard]] std::int32_t number(std::size_t column) const;
  [[nodiscard]] std::uint32_t unsigned_number(std::size_t column) const;
  [[nodiscard]] float floating(std::size_t column) const;
  /// The same for words of either size.
  [[nodiscard]] std::uint64_t word64(std::size_t column) const;
  [[nodiscard]] std::int64_t number64(std::size_t column) const;
  [[nodiscard]] std::uint64_t unsigned_number64(std::size_t column) const;
  [[nodiscard]] double floating64(std::size_t column) const;
  [[nodiscard]] std::string_view symbol(std::size_t column) const;
  /// Returns the column, whatever its type; numbers and floats have the program's word size.
  /// @throws input_error for records and branches beyond the size limits of a value; memory_limit_error
  [[nodiscard]] gpulog::value value(std::size_t column) const;
  /// Returns the column as in an output file.
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

/// A result column in host memory.
struct host_column {
  /// One value per tuple, in iteration order. Numbers, unsigned numbers and floats have the program's word size;
  /// symbols are std::string_view; records and branches are `value`.
  typed_column values;
  bool is_copy = false;               ///< false: points into the engine's memory
  std::shared_ptr<const void> owner;  ///< keeps the required parts of the engine and of this evaluation alive
};

/// A read-only column of numbers in device memory.
struct device_column {
  const void* values = nullptr;
  std::uint64_t rows = 0;
  /// Type of the values in the notation of the Arrow C data interface: "i" for std::int32_t, "I" for std::uint32_t, "f"
  /// for float; input columns may also have c, C, s, S, l, L (8, 16 and 64 bits) and "g" for double.
  std::string format;
  std::string vendor;  ///< vendor of the device: "cuda", "hip", or "emulated"
  int device = 0;      ///< number of the device
  /// The vendor's stream handle. For a result: the engine's stream, which orders all work. For an input: the stream
  /// that computes the column, which gpulog waits for.
  const void* stream = nullptr;
  /// For a result: keeps the required parts of the engine and of this evaluation alive.
  std::shared_ptr<const void> owner;
};

/// Copies a device column to host memory.
/// @param into has space for all rows
/// @throws input_error if this build does not support the vendor, or if the machine has no device of that number
GPULOG_API void copy_to_host(const device_column& column, void* into);

/// A handle to a relation of an engine, valid during the lifetime of the engine. Iteration visits every tuple once, in
/// an unspecified order.
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
  /// Returns the number of tuples; before the first evaluation, the number of inserted or loaded tuples.
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Returns whether the last evaluation computed all tuples of the relation. False for a relation that no output or
  /// query needed, or of which queries needed only some tuples.
  [[nodiscard]] bool is_complete() const;

  /// Adds a tuple to the facts; after an evaluation, for the next evaluation.
  /// @throws input_error if the number or the types of the values do not match, during an evaluation, or after a failed
  ///   evaluation; memory_limit_error
  void insert(std::span<const value> values);
  void insert(std::initializer_list<value> values) { insert(std::span<const value>(values.begin(), values.size())); }

  /// Adds all tuples of the columns, or none if this throws. The values are copied.
  /// @throws like insert, and input_error for columns of different lengths or for a relation without attributes
  void insert_columns(std::span<const typed_column> columns);
  void insert_columns(std::initializer_list<typed_column> columns) {
    insert_columns(std::span<const typed_column>(columns.begin(), columns.size()));
  }

  /// The same for columns in device memory, with the types that insert_arrow accepts. Copies the values to host memory,
  /// where an engine keeps its facts.
  /// @throws like insert_arrow_columns and copy_to_host
  void insert_device_columns(std::span<const device_column> columns);

  /// Removes a tuple from the facts (inserted, loaded, or in the program's text) for the next evaluation. A tuple that
  /// rules derive stays as long as the rules derive it; erasing a tuple that is not a fact has no effect.
  /// @throws input_error like insert
  void erase(std::span<const value> values);
  void erase(std::initializer_list<value> values) { erase(std::span<const value>(values.begin(), values.size())); }

  /// Adds all rows of a stream of Arrow arrays, or none if this throws. Struct arrays have a field per attribute,
  /// matched by name if the names agree, or by position if no name does; an array of a different type is the column of
  /// a unary relation. Numbers and unsigned numbers accept any integers in range; floats accept any numbers (rounded to
  /// the word size); symbols accept texts, bytes and dictionaries; records and branches accept texts as in a fact file.
  /// The values are copied. The stream is read to its end and remains owned by the caller.
  /// @throws like insert_columns, and input_error for nulls
  void insert_arrow(ArrowArrayStream& rows);

  /// The same with one stream per attribute.
  void insert_arrow_columns(std::span<ArrowArrayStream* const> columns);

  /// Remove all rows of a stream, or of one stream per attribute, from the facts, as erase does; none if this throws.
  /// @throws like insert_arrow
  void erase_arrow(ArrowArrayStream& rows);
  void erase_arrow_columns(std::span<ArrowArrayStream* const> columns);

  /// The same for the tuples of columns.
  /// @throws like insert_columns
  void erase_columns(std::span<const typed_column> columns);

  /// Creates a stream of the current tuples: struct arrays with the names of the attributes. After an evaluation,
  /// 32-bit numbers, unsigned numbers and floats are not copied; records and branches are texts that insert_arrow
  /// accepts. The stream and its arrays keep the required parts of the engine and of this evaluation alive
  /// independently of the engine, and any thread may release them. Reading the stream fails for texts that are not
  /// valid UTF-8, unless options.binary is set.
  /// @throws memory_limit_error
  void to_arrow(ArrowArrayStream& made, const arrow_options& options = {}) const;

  /// Returns the values of an attribute for all current tuples. After an evaluation, 32-bit numbers, unsigned numbers
  /// and floats are not copied, except for equivalence relations.
  /// @throws input_error for a column that does not exist, and for values that tuple::value would reject;
  ///   memory_limit_error
  [[nodiscard]] host_column column(std::size_t number) const;

  /// Returns a result column in device memory, which to_arrow would copy to the host. Only for 32-bit numbers, unsigned
  /// numbers and floats. Returns nothing if the column is in host memory.
  [[nodiscard]] std::optional<device_column> on_device(std::size_t column) const;

  /// Returns whether the relation contains a tuple. After an evaluation, the first call builds an index (16 bytes per
  /// tuple); before the first evaluation, each call scans all tuples.
  /// @throws input_error if the number or the types of the values do not match; memory_limit_error
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
