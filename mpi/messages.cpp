#include "mpi/messages.h"

#include <mpi.h>

#include <limits>
#include <list>
#include <string>
#include <vector>

namespace {

constexpr int message_tag = 1;

/// A message until MPI has sent it.
struct Sending {
  std::string text;
  MPI_Request request = MPI_REQUEST_NULL;
};

struct State {
  MPI_Comm ranks = MPI_COMM_NULL;
  std::list<Sending> sending;
  std::vector<char> received;
  std::string error;
};
State state;

int failed(const char* call, int code) {
  if (code == MPI_SUCCESS) return 0;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  state.error = std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length));
  return 1;
}

/// Lets MPI go on with what is being sent, and forgets what was sent.
int progress() {
  for (auto one = state.sending.begin(); one != state.sending.end();) {
    int done = 0;
    if (failed("MPI_Test", MPI_Test(&one->request, &done, MPI_STATUS_IGNORE))) return 1;
    one = done ? state.sending.erase(one) : std::next(one);
  }
  return 0;
}

}  // namespace

int shiplap_mpi_begin(size_t* rank, size_t* size) {
  int own = 0;
  int all = 0;
  int level = 0;
  // Other threads of the program do not call MPI.
  if (failed("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level))) return 1;
  if (level < MPI_THREAD_FUNNELED) {
    state.error = "this MPI allows no threads beside it";
    return 1;
  }
  // Messages of their own, and errors as return values.
  if (failed("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &state.ranks))) return 1;
  MPI_Comm_set_errhandler(state.ranks, MPI_ERRORS_RETURN);
  if (failed("MPI_Comm_rank", MPI_Comm_rank(state.ranks, &own))) return 1;
  if (failed("MPI_Comm_size", MPI_Comm_size(state.ranks, &all))) return 1;
  *rank = static_cast<size_t>(own);
  *size = static_cast<size_t>(all);
  return 0;
}

int shiplap_mpi_send(size_t to, const char* text, size_t length) {
  if (length > static_cast<size_t>(std::numeric_limits<int>::max())) {
    state.error = "a message has more than 2 GiB";
    return 1;
  }
  if (progress()) return 1;
  Sending& one = state.sending.emplace_back();
  one.text.assign(text, length);
  return failed("MPI_Isend", MPI_Isend(one.text.data(), static_cast<int>(length), MPI_BYTE, static_cast<int>(to),
                                       message_tag, state.ranks, &one.request));
}

int shiplap_mpi_receive(int* found, size_t* from, const char** text, size_t* length) {
  *found = 0;
  if (progress()) return 1;
  MPI_Status status;
  if (failed("MPI_Iprobe", MPI_Iprobe(MPI_ANY_SOURCE, message_tag, state.ranks, found, &status))) return 1;
  if (!*found) return 0;
  int bytes = 0;
  if (failed("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &bytes))) return 1;
  state.received.resize(static_cast<std::size_t>(bytes));
  if (failed("MPI_Recv", MPI_Recv(state.received.data(), bytes, MPI_BYTE, status.MPI_SOURCE, message_tag, state.ranks,
                                  MPI_STATUS_IGNORE)))
    return 1;
  *from = static_cast<size_t>(status.MPI_SOURCE);
  *text = state.received.data();
  *length = state.received.size();
  return 0;
}

int shiplap_mpi_end(void) {
  for (Sending& one : state.sending)
    if (failed("MPI_Wait", MPI_Wait(&one.request, MPI_STATUS_IGNORE))) return 1;
  state.sending.clear();
  if (failed("MPI_Comm_free", MPI_Comm_free(&state.ranks))) return 1;
  return failed("MPI_Finalize", MPI_Finalize());
}

void shiplap_mpi_abort(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

const char* shiplap_mpi_error(void) { return state.error.c_str(); }
