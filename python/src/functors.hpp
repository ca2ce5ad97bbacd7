#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <span>
#include <string>

#include "gpulog/registered_functor.hpp"

namespace gpulog_python {

namespace nb = nanobind;

/// A functor written in Python, as gpulog/_functors.py makes it: called with the NumPy type of the results, or "" for
/// texts, the number of rows and the columns. It gives an array of that type, or a list of values.
struct python_functor {
  nb::object function;
  bool takes_arrays = false;  ///< of numbers; else all columns are lists
};

/// Calls a functor for as many rows as there are results; who calls holds the GIL. @throws nb::python_error for what it
/// raises, gpulog::evaluation_error for results that do not fit
void call_functor(const std::string& name, const python_functor& called,
                  std::span<const gpulog::column_values> arguments, const gpulog::result_values& results);

}  // namespace gpulog_python
