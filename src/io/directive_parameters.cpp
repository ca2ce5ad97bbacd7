#include "io/directive_parameters.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace gpulog::io {

std::string directive_parameters::text(const std::string& key, std::string_view otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

bool directive_parameters::flag(const std::string& key) const {
  const std::string value = text(key, "false");
  if (value == "true") return true;
  if (value == "false") return false;
  throw user_error(fmt::format("the parameter {} is true or false, not \"{}\"", key, value));
}

std::string directive_parameters::delimiter(bool rfc4180) const {
  std::string result = text("delimiter", rfc4180 ? "," : "\t");
  if (result.empty()) throw user_error("the parameter delimiter is empty");
  if (result.find('\n') != std::string::npos) throw user_error("the parameter delimiter contains a line break");
  if (rfc4180 && result.find('"') != std::string::npos) {
    throw user_error("a delimiter with a double quote does not go with rfc4180=true");
  }
  return result;
}

std::string name_in_files(const std::string& relation, const std::map<std::string, std::string>& parameters) {
  return directive_parameters(parameters).text("name", relation);
}

}  // namespace gpulog::io
