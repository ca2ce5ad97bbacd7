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

/// Converts Python objects to streams of Arrow arrays, and streams to Python objects.
namespace gpulog_python {

namespace nb = nanobind;

/// Returns the stream in a capsule.
/// @throws gpulog::input_error if the capsule has no stream or the stream was already used
[[nodiscard]] ArrowArrayStream& stream_in(const nb::capsule& capsule);

/// A capsule that owns a stream to fill.
struct new_stream {
  ArrowArrayStream* stream;
  nb::capsule capsule;
};
[[nodiscard]] new_stream make_stream();

/// Returns a stream of one array from `__arrow_c_array__` of a different library. Takes ownership of the array.
[[nodiscard]] nb::capsule stream_of_capsules(const nb::capsule& schema, const nb::capsule& array);

/// Returns a stream of one array in host memory of a different library, without a copy.
[[nodiscard]] nb::capsule stream_of_array(
    const nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>, nb::device::cpu>& values);

/// The same for an array in device memory. Copies the array to the host, where an engine keeps its facts.
/// @throws gpulog::input_error if gpulog was built without support for the device
[[nodiscard]] nb::capsule stream_of_device_array(const nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>>& values);

/// The same for memory described by `__cuda_array_interface__`.
/// @param code i, u or f
/// @param bytes per value
/// @param stream 0: no pending computation
[[nodiscard]] nb::capsule stream_of_cuda_memory(std::uintptr_t values, std::uint64_t rows, char code, std::size_t bytes,
                                                std::uintptr_t stream);

/// DLPack type of the emulated device: kDLExtDev. Further libraries cannot read its memory.
constexpr int emulated_device = 12;

/// Returns a stream per attribute of a relation, from rows that are sequences or dictionaries.
/// @throws gpulog::input_error
[[nodiscard]] std::vector<nb::capsule> streams_of_rows(const std::string& relation,
                                                       const std::vector<gpulog::attribute>& attributes,
                                                       const nb::object& rows, const structures& known);

/// Returns a stream for one attribute, from a sequence of values.
/// @throws gpulog::input_error
[[nodiscard]] nb::capsule stream_of_values(const std::string& relation, const gpulog::attribute& attribute,
                                           const nb::object& values, const structures& known);

/// The rows of a stream from relation::to_arrow with dictionaries and bytes.
class table {
 public:
  /// @param stream taken over
  table(const std::vector<gpulog::attribute>& attributes, ArrowArrayStream stream,
        std::shared_ptr<const structures> known);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Returns `count` rows as a list of tuples.
  [[nodiscard]] nb::list fetch(std::uint64_t first, std::uint64_t count);
  /// Returns the numbers of a column, or the codes of a symbol column, without a copy.
  [[nodiscard]] nb::object numbers(std::size_t column) const;
  /// Returns the texts of a symbol column by code, if the column has one piece.
  [[nodiscard]] nb::list texts(std::size_t column) const;
  /// Returns all values of a column; records and branches as texts.
  [[nodiscard]] nb::list objects(std::size_t column);
  /// Returns the number of arrays: 1, except for large equivalence relations and empty relations.
  [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

 private:
  [[nodiscard]] nb::object value(std::size_t piece, std::size_t column, std::int64_t row);

  std::vector<std::string> formats_;                ///< by column; "dictionary" for symbols
  std::vector<std::string> structures_of_columns_;  ///< empty for plain values
  std::shared_ptr<const structures> known_;
  std::vector<std::shared_ptr<ArrowArray>> pieces_;
  std::vector<std::vector<nb::list>> texts_;  ///< by piece and symbol column; created once
  std::uint64_t rows_ = 0;
};

}  // namespace gpulog_python
