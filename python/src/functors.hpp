#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <span>
#include <string>

#include "gpulog/registered_functor.hpp"

namespace gpulog_python {

namespace nb = nanobind;

/// A functor in Python, as created by gpulog/_functors.py: called with the NumPy type of the results (or "" for texts),
/// the number of rows and the columns. Returns an array of that type, or a list of values.
struct python_functor {
  nb::object function;
  bool takes_arrays = false;  ///< pass numbers as arrays; otherwise pass all columns as lists
};

/// Calls a functor for one row per result. The caller must hold the GIL.
/// @throws nb::python_error if the functor raises, gpulog::evaluation_error for invalid results
void call_functor(const std::string& name, const python_functor& called,
                  std::span<const gpulog::column_values> arguments, const gpulog::result_values& results);

}  // namespace gpulog_python
