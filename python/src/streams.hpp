#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpulog/arrow.hpp"
#include "gpulog/relation.hpp"
#include "structures.hpp"

/// Python's objects as streams of Arrow arrays, and streams as Python's objects.
namespace gpulog_python {

namespace nb = nanobind;

/// The stream in a capsule. @throws gpulog::input_error where it has none, or it was used already
[[nodiscard]] ArrowArrayStream& stream_in(const nb::capsule& capsule);

/// A capsule that owns a stream, to be filled.
struct new_stream {
  ArrowArrayStream* stream;
  nb::capsule capsule;
};
[[nodiscard]] new_stream make_stream();

/// A stream of one array that another library gave as `__arrow_c_array__` does. The array is taken.
[[nodiscard]] nb::capsule stream_of_capsules(const nb::capsule& schema, const nb::capsule& array);

/// A stream of one array, which is one that some library has in this machine's memory; it is not copied.
[[nodiscard]] nb::capsule stream_of_array(
    const nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>, nb::device::cpu>& values);

/// The same of an array that is in the memory of a device. It is copied to this machine, as an engine has its facts
/// there. @throws gpulog::input_error where gpulog was built for no such device
[[nodiscard]] nb::capsule stream_of_device_array(const nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>>& values);

/// The same of memory that `__cuda_array_interface__` describes. @param code i, u or f @param bytes of a value
/// @param stream 0: nothing computes it
[[nodiscard]] nb::capsule stream_of_cuda_memory(std::uintptr_t values, std::uint64_t rows, char code, std::size_t bytes,
                                                std::uintptr_t stream);

/// How DLPack calls the emulated device: kDLExtDev. No other library reads its memory.
constexpr int emulated_device = 12;

/// Streams for the attributes of a relation, of rows that are sequences. @throws gpulog::input_error
[[nodiscard]] std::vector<nb::capsule> streams_of_rows(const std::string& relation,
                                                       const std::vector<gpulog::attribute>& attributes,
                                                       const nb::object& rows, const structures& known);

/// A stream for one attribute, of a sequence of values. @throws gpulog::input_error
[[nodiscard]] nb::capsule stream_of_values(const std::string& relation, const gpulog::attribute& attribute,
                                           const nb::object& values, const structures& known);

/// The rows of a stream that relation::to_arrow made, with dictionaries and bytes.
class table {
 public:
  table(const gpulog::relation& relation, std::shared_ptr<const structures> known);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Tuples of so many rows, as a list.
  [[nodiscard]] nb::list fetch(std::uint64_t first, std::uint64_t count);
  /// The numbers of a column, or of a symbol column the codes of its texts; not copied.
  [[nodiscard]] nb::object numbers(std::size_t column) const;
  /// The texts that the codes of a symbol column stand for, where there is one piece.
  [[nodiscard]] nb::list texts(std::size_t column) const;
  /// All values of a column; records and branches as texts.
  [[nodiscard]] nb::list objects(std::size_t column);
  /// How many arrays there are: one, but for large equivalence relations and for no rows.
  [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

 private:
  [[nodiscard]] nb::object value(std::size_t piece, std::size_t column, std::int64_t row);

  std::vector<std::string> formats_;                ///< by column; "dictionary" for symbols
  std::vector<std::string> structures_of_columns_;  ///< empty for plain values
  std::shared_ptr<const structures> known_;
  std::vector<std::shared_ptr<ArrowArray>> pieces_;
  std::vector<std::vector<nb::list>> texts_;  ///< by piece and column, of symbols: made once
  std::uint64_t rows_ = 0;
};

}  // namespace gpulog_python
