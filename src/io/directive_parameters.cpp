#include "io/directive_parameters.hpp"

#include "support/error.hpp"

namespace gpulog::io {

std::string directive_parameters::text(const std::string& key, std::string_view otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

bool directive_parameters::flag(const std::string& key) const { return text(key, "false") == "true"; }

std::string directive_parameters::delimiter(bool rfc4180) const {
  std::string result = text("delimiter", rfc4180 ? "," : "\t");
  if (rfc4180 && result.find('"') != std::string::npos) {
    throw user_error("a delimiter with a double quote does not go with rfc4180=true");
  }
  return result;
}

std::string name_in_files(const std::string& relation, const std::map<std::string, std::string>& parameters) {
  return directive_parameters(parameters).text("name", relation);
}

}  // namespace gpulog::io
