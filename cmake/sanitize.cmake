# GPULOG_SANITIZE: comma-separated names for -fsanitize= (address,undefined or thread), for all targets.
set(GPULOG_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread; empty for none")
if(GPULOG_SANITIZE)
  add_compile_options(-fsanitize=${GPULOG_SANITIZE} -fno-omit-frame-pointer)
  # g++ wrongly reports uninitialised values in instrumented library code; the build without sanitizers keeps the
  # warning.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${GPULOG_SANITIZE})
  # Compilers have different macros for sanitizers, so sources test this macro.
  add_compile_definitions(GPULOG_SANITIZED)
  if(GPULOG_SANITIZE MATCHES "address")
    add_compile_definitions(GPULOG_SANITIZED_ADDRESSES)
  endif()
  if(GPULOG_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    # AddressSanitizer reports most of these errors a few instructions later, while the checks on every access take up
    # to a third of the compile time. All supported processors allow unaligned access.
    if(GPULOG_SANITIZE MATCHES "address")
      # User functors are called through one function type that passes all registers (kernels/steps/functor_call.hpp).
      add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
      add_compile_options(-fno-sanitize=null,vptr,object-size,alignment,nonnull-attribute,returns-nonnull-attribute)
    endif()
  endif()
endif()
