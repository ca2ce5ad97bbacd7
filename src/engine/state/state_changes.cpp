#include <fmt/format.h>

#include <string>
#include <utility>

#include "engine/state/stored_results.hpp"
#include "io/directive_parameters.hpp"
#include "io/relation_writer.hpp"

/// Writes what changed since the stored results (run_options::changes_directory).
namespace gpulog::detail {
namespace {

/// Returns the parameters of a file with added or removed tuples, in the form of the .output.
std::map<std::string, std::string> parameters_of(const sema::io_directive& output, const std::string& name,
                                                 const char* what) {
  std::map<std::string, std::string> parameters = {{"IO", "file"}, {"filename", fmt::format("{}.{}.csv", name, what)}};
  for (const char* const key : {"delimiter", "headers", "rfc4180"}) {
    if (const auto given = output.parameters.find(key); given != output.parameters.end()) parameters.insert(*given);
  }
  return parameters;
}

}  // namespace

template <class Visit>
void stored_results::for_each_output(const Visit& visit) const {
  for (std::uint32_t number = 0; number < run_.analysed().relations.size(); ++number) {
    const sema::relation& relation = run_.relation(number);
    for (const sema::io_directive& directive : relation.directives) {
      if (relation.is_query || directive.kind != sema::directive_kind::output) continue;
      visit(number, io::name_in_files(relation.name, directive.parameters), directive);
      break;  // several outputs of a relation have the same tuples
    }
  }
}

void stored_results::check_changes(const std::filesystem::path& folder) const {
  io::output_check files;
  for_each_output([&](std::uint32_t, const std::string& name, const sema::io_directive& directive) {
    for (const char* const what : {"added", "removed"})
      io::require_writable(name, {parameters_of(directive, name, what), folder, run_.options.jobs}, files);
  });
}

void stored_results::write_changes(const std::filesystem::path& folder, io::output_files& files) const {
  for_each_output([&](std::uint32_t number, const std::string& name, const sema::io_directive& directive) {
    const row_changes changes = results_.changes_of(number);
    const auto write = [&](const staged_rows& rows, const char* what) {
      io::relation_rows written = files_.rows_of(number, directive);
      written.rows = rows.rows;
      written.columns = rows.pointers();
      written.columns.resize(run_.relation(number).attributes.size());
      io::write_relation(written, {parameters_of(directive, name, what), folder, run_.options.jobs},
                         run_.values.symbols, files);
    };
    write(changes.added, "added");
    write(changes.removed, "removed");
  });
}

}  // namespace gpulog::detail
