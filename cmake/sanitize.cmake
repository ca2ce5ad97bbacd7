# GPULOG_SANITIZE: comma-separated names for -fsanitize= (address,undefined or thread), for everything that is built.
set(GPULOG_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread; empty for none")
if(GPULOG_SANITIZE)
  add_compile_options(-fsanitize=${GPULOG_SANITIZE} -fno-omit-frame-pointer)
  # g++ finds uninitialised values in instrumented library code, wrongly; the build without sanitizers has the warning.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${GPULOG_SANITIZE})
  # Each compiler has a macro of its own for this: sources ask for ours.
  add_compile_definitions(GPULOG_SANITIZED)
  if(GPULOG_SANITIZE MATCHES "address")
    add_compile_definitions(GPULOG_SANITIZED_ADDRESSES)
  endif()
  if(GPULOG_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    # AddressSanitizer reports what most of these would, a few instructions later; they check every access once more, and
    # take up to a third of the time that compiling takes. No processor that this is built for minds alignment.
    if(GPULOG_SANITIZE MATCHES "address")
      # Users' functors are called through one function type that passes all registers (kernels/steps/functor_call.hpp).
      add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
      add_compile_options(-fno-sanitize=null,vptr,object-size,alignment,nonnull-attribute,returns-nonnull-attribute)
    endif()
  endif()
endif()
