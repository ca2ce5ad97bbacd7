// The Python module gpulog._core: a thin layer over the C++ interface. Convenience functions are written in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"
#include "guarded_engine.hpp"
#include "proofs.hpp"
#include "runs.hpp"
#include "streams.hpp"
#include "structures.hpp"

namespace gpulog_python {
namespace {

gpulog::program compile(const std::string& text, bool is_file, const std::string& name,
                        const std::vector<std::string>& include, const std::vector<std::string>& macros,
                        const std::vector<std::pair<std::string, std::string>>& pragmas, unsigned word_size,
                        const std::vector<std::string>& filled, bool portable) {
  gpulog::compile_options options;
  options.include_directories = include;
  options.macros = macros;
  options.pragmas = pragmas;
  options.word_size = word_size;
  options.filled_relations = filled;
  options.portable = portable;
  const nb::gil_scoped_release free;
  return is_file ? gpulog::program::from_file(text, options) : gpulog::program::from_text(text, options, name);
}

nb::list list_of(const std::vector<gpulog::field>& fields) {
  nb::list result;
  for (const gpulog::field& one : fields) result.append(nb::make_tuple(one.name, one.type, one.structure));
  return result;
}

nb::list list_of(const std::vector<gpulog::diagnostic>& remarks) {
  nb::list result;
  for (const gpulog::diagnostic& remark : remarks) {
    result.append(nb::make_tuple(remark.level == gpulog::severity::error ? "error" : "warning", remark.message,
                                 remark.file, remark.line, remark.column, remark.text));
  }
  return result;
}

/// Returns the answer, or for a wrong query its report and its diagnostics.
nb::object answer_of(guarded_engine& engine, const std::string& body, const given_functors& functors,
                     std::optional<double> timeout) {
  try {
    return nb::cast(engine.query(body, functors, timeout));
  } catch (const gpulog::query_error& problem) {
    return nb::make_tuple(problem.what(), list_of(problem.diagnostics()));
  }
}

/// Returns name and kind of each type, with fields for a record, or else branches with their fields.
nb::list types_of(const gpulog::program& source) {
  nb::list result;
  for (const gpulog::structured_type& type : source.types()) {
    nb::dict branches;
    for (const auto& branch : type.branches) branches[nb::cast(branch.name)] = list_of(branch.fields);
    result.append(nb::make_tuple(type.name, type.type, list_of(type.fields), branches));
  }
  return result;
}

gpulog::backend_kind backend_named(const std::string& name) {
  if (const auto found = gpulog::backend_from_name(name)) return *found;
  throw gpulog::input_error("there is no backend " + name + ": auto, cpu or gpu");
}

gpulog::storage_kind storage_named(const std::string& name) {
  if (const auto found = gpulog::storage_from_name(name)) return *found;
  throw gpulog::input_error("there is no storage " + name + ": auto, hisa, hash, bits or words");
}

}  // namespace
}  // namespace gpulog_python

NB_MODULE(_core, module) {
  using namespace gpulog_python;
  using nb::literals::operator""_a;

  const nb::exception<gpulog::error> base(module, "Error");
  // Wrong inputs are also ValueErrors, as Python's own functions raise for wrong arguments.
  const nb::exception<gpulog::input_error> input(module, "InputError",
                                                 nb::make_tuple(base, nb::borrow(PyExc_ValueError)));
  const nb::exception<gpulog::output_error> output(module, "OutputError", base);
  const nb::exception<gpulog::evaluation_error> evaluation(module, "EvaluationError", base);
  const nb::exception<gpulog::memory_limit_error> memory(module, "MemoryLimitError", base);
  const nb::exception<gpulog::cancelled_error> cancelled(module, "Cancelled", base);

  module.def("version", &gpulog::version);
  module.def("backends", &gpulog::built_backends);
  module.def("end_all_runs", &end_all_runs);
  module.def("stages", &gpulog::program::stages);
  module.def("stream_of_capsules", &stream_of_capsules);
  module.def("stream_of_array", &stream_of_array);
  module.def("stream_of_device_array", &stream_of_device_array);
  module.def("stream_of_cuda_memory", &stream_of_cuda_memory, "values"_a, "rows"_a, "code"_a, "bytes"_a, "stream"_a);

  nb::class_<gpulog::program>(module, "Program")
      .def_prop_ro("ok", &gpulog::program::ok)
      .def_prop_ro("report", &gpulog::program::report)
      .def_prop_ro("word_size", &gpulog::program::word_size)
      .def("show", [](const gpulog::program& one, const std::string& stage) { return one.show(stage); })
      .def("diagnostics", [](const gpulog::program& one) { return list_of(one.diagnostics()); })
      .def("types", &types_of)
      .def("relations", [](const gpulog::program& one) {
        nb::list result;
        for (const gpulog::relation_declaration& relation : one.relations()) {
          result.append(
              nb::make_tuple(relation.name, columns_of(relation.attributes), relation.is_input, relation.is_output));
        }
        return result;
      });
  module.def("compile", &compile, "text"_a, "is_file"_a, "name"_a, "include"_a, "macros"_a, "pragmas"_a, "word_size"_a,
             "filled"_a, "portable"_a);

  nb::class_<structures>(module, "Structures")
      .def(nb::init<const gpulog::program&, nb::dict, nb::object>(), "source"_a, "records"_a, "branch"_a);

  nb::class_<table>(module, "Table")
      .def_prop_ro("rows", &table::rows)
      .def_prop_ro("pieces", &table::pieces)
      .def("fetch", &table::fetch, "first"_a, "count"_a)
      .def("numbers", &table::numbers, "column"_a)
      .def("texts", &table::texts, "column"_a)
      .def("objects", &table::objects, "column"_a);

  nb::class_<answer_rows>(module, "Answer")
      .def("attributes", &answer_rows::attributes)
      .def("size", &answer_rows::size)
      .def("stream", &answer_rows::stream, "dictionaries"_a, "binary"_a)
      .def("rows", &answer_rows::rows);

  add_proofs(module);

  nb::class_<guarded_engine>(module, "Engine")
      .def(
          "__init__",
          [](guarded_engine* self, const gpulog::program& source, std::shared_ptr<const structures> known,
             const std::string& facts, const std::string& output, unsigned jobs, const std::string& backend, int device,
             const std::string& storage, std::uint64_t memory_limit, const std::string& spill, bool proofs,
             bool changes, const std::vector<std::string>& functor_libraries,
             const std::vector<std::string>& functor_directories, const std::vector<std::string>& functors,
             const std::map<std::string, std::string>& tuning) {
            gpulog::run_options options;
            options.fact_directory = facts;
            options.output_directory = output;
            options.jobs = jobs_here(jobs);
            options.backend = backend_named(backend);
            options.device = device;
            options.storage = storage_named(storage);
            options.memory_limit = memory_limit;
            options.spill_directory = spill;
            options.proofs = proofs;
            options.changes = changes;
            options.functor_libraries = functor_libraries;
            options.functor_directories = functor_directories;
            for (const auto& [name, value] : tuning) options.tuning[name] = value;
            new (self) guarded_engine(source, std::move(known), std::move(options), functors);
          },
          "source"_a, "structures"_a, "facts"_a, "output"_a, "jobs"_a, "backend"_a, "device"_a, "storage"_a,
          "memory_limit"_a, "spill"_a, "proofs"_a, "changes"_a, "functor_libraries"_a, "functor_directories"_a,
          "functors"_a, "tuning"_a)
      .def("load", &guarded_engine::load)
      .def("evaluate", &guarded_engine::evaluate, "progress"_a.none(), "functors"_a, "timeout"_a.none())
      .def("query", &answer_of, "body"_a, "functors"_a, "timeout"_a.none())
      .def("write", &guarded_engine::write)
      .def("save", &guarded_engine::save, "path"_a)
      .def("restore", &guarded_engine::restore, "path"_a)
      .def("changes", &guarded_engine::changes, "name"_a)
      .def("on_change", &guarded_engine::on_change, "name"_a, "is_on"_a)
      .def("take_changes", &guarded_engine::take_changes)
      .def("reset", &guarded_engine::reset)
      .def("cancel", &guarded_engine::cancel)
      .def("statistics", &guarded_engine::statistics)
      .def("warnings", &guarded_engine::warnings)
      .def("why", &guarded_engine::why, "tuple"_a, "depth"_a, "functors"_a)
      .def("why_not", &guarded_engine::why_not, "tuple"_a, "given"_a, "functors"_a)
      .def("relations", &guarded_engine::relations)
      .def(
          "attributes", [](guarded_engine& one, const std::string& name) { return columns_of(one.attributes(name)); },
          "name"_a)
      .def("change_stream", &guarded_engine::change_stream, "name"_a, "rows"_a, "erases"_a)
      .def("change_columns", &guarded_engine::change_columns, "name"_a, "columns"_a, "erases"_a)
      .def("change_nothing", &guarded_engine::change_nothing, "name"_a, "erases"_a)
      .def("streams_of_rows",
           [](guarded_engine& one, const std::string& name, const nb::object& rows) {
             return streams_of_rows(name, one.attributes(name), rows, one.known());
           })
      .def("stream_of_values",
           [](guarded_engine& one, const std::string& name, std::size_t column, const nb::object& values) {
             return stream_of_values(name, one.attributes(name).at(column), values, one.known());
           })
      .def("size", &guarded_engine::size, "name"_a)
      .def("contains", &guarded_engine::contains, "name"_a, "row"_a)
      .def("stream", &guarded_engine::stream, "name"_a, "dictionaries"_a, "binary"_a)
      .def("rows", &guarded_engine::rows, "name"_a)
      .def("on_device", &guarded_engine::on_device, "name"_a, "column"_a);
}
