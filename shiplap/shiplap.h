/** @file
   shiplap from C, and from every language that can call C. Each function calls the C++ library (shiplap.hpp), whose
   documentation says more about jobs, steps and plans.

   Functions that can fail return a status, and shiplap_message() says why. Handles belong to the caller, who gives them
   back with the function that ends in _destroy or _close; these take NULL too, which a handle is after a failure. A
   handle may be used by one thread at a time. Functions of the caller must not jump out with longjmp or an exception:
   they return 0, or another number to stop the run.

   @code
   shiplap_node* node;
   shiplap_job* job;
   shiplap_plan* plan;
   shiplap_prepared* prepared;
   shiplap_open(&node, "cuda:0", NULL);
   shiplap_job_create(&job, "scale", rows);
   shiplap_job_array(job, "x", SHIPLAP_IN, x, rows, sizeof(float));
   shiplap_job_array(job, "y", SHIPLAP_OUT, y, rows, sizeof(float));
   shiplap_job_gpu_kernel(job, scale_on_gpu, NULL);
   shiplap_plan_job(&plan, node, job, NULL);
   shiplap_prepare(&prepared, node, plan);
   shiplap_run(prepared, NULL);
   @endcode */
#ifndef SHIPLAP_SHIPLAP_H
#define SHIPLAP_SHIPLAP_H

#include <stddef.h>
#include <stdint.h>

#include "shiplap/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What became of a call. The numbers up to 2 and 64 are those of the program's exit codes. */
typedef enum shiplap_status {
  SHIPLAP_SUCCESS = 0,      /**< the call did what it says */
  SHIPLAP_FAILURE = 1,      /**< it could not be done */
  SHIPLAP_CHECK_FAILED = 2, /**< it was done, and a check of the result failed */
  SHIPLAP_UNSUPPORTED = 3,  /**< the device, the profile or this build cannot do it */
  SHIPLAP_TIMED_OUT = 4,    /**< a run did not end within its time limit */
  SHIPLAP_CANCELLED = 5,    /**< the caller stopped it */
  SHIPLAP_USAGE = 64        /**< an argument is wrong */
} shiplap_status;

/** The version of the library, as in "0.1.0"; SHIPLAP_VERSION is that of the header. */
const char* shiplap_version(void);
/** Why the last call of this thread that failed did so, and what to do; "" before the first. Valid until the next call
    that fails. */
const char* shiplap_message(void);

/* --- nodes --- */

/** A device with the profile of its links. */
typedef struct shiplap_node shiplap_node;

/** Opens a device: "cuda:0", "virtual:h200"; NULL opens the first GPU, or a virtual one where there is none. `profile`
    is the name or the file of a profile. With NULL it is the cached one of this GPU, which is measured within 15 s
    where there is none. */
shiplap_status shiplap_open(shiplap_node** node, const char* device, const char* profile);
/** Closes a node, and frees the memory that was allocated on it. What was prepared on the node can still run, unless
    its arrays are in that memory. */
void shiplap_close(shiplap_node* node);
/** The name of the node's device, as in "cuda:0". Valid until the node is closed. */
const char* shiplap_device(const shiplap_node* node);
/** Allocates `bytes` bytes of pinned host memory, which copies fastest. Arrays may be in any other memory too. */
shiplap_status shiplap_allocate(shiplap_node* node, void** data, size_t bytes);
/** Frees what shiplap_allocate gave for this node. */
shiplap_status shiplap_free(shiplap_node* node, void* data);

/* --- jobs --- */

/** Work that is cut along its items: arrays and a kernel. */
typedef struct shiplap_job shiplap_job;

/** How a kernel uses an array. */
typedef enum shiplap_role {
  SHIPLAP_IN = 0,        /**< read; each item owns an equal part */
  SHIPLAP_OUT = 1,       /**< written; each item owns an equal part */
  SHIPLAP_INOUT = 2,     /**< read and written; each item owns an equal part */
  SHIPLAP_BROADCAST = 3, /**< read as a whole by every chunk */
  SHIPLAP_CARRIED = 4,   /**< read and written as a whole by one chunk after the other */
  SHIPLAP_SCRATCH = 5    /**< memory on the GPU for one chunk, which is never copied */
} shiplap_role;

/** What a chunk has of an array. */
typedef struct shiplap_part {
  void* data;          /**< its first element, in the memory that the kernel accesses */
  uint64_t first;      /**< the index of this element in the whole array */
  uint64_t count;      /**< how many elements */
  size_t element_size; /**< bytes of an element */
} shiplap_part;

/** Element `i` of the whole array, in a part that has it: SHIPLAP_ELEMENT(float, chunk->arrays[0], i). */
#define SHIPLAP_ELEMENT(type, part, i) (((type*)(part).data)[(i) - (part).first])

/** A chunk for which a kernel is launched. */
typedef struct shiplap_chunk {
  uint64_t first;             /**< the index of its first item in the whole job */
  uint64_t count;             /**< how many items */
  uint64_t blocks;            /**< thread blocks that the plan asks for, for kernels that work with any grid */
  void* stream;               /**< the cudaStream_t to launch on; NULL for a kernel of the host */
  size_t array_count;         /**< how many arrays */
  const shiplap_part* arrays; /**< the arrays of the job in their order */
} shiplap_chunk;

/** Launches the kernel for a chunk on `chunk->stream` without waiting for it, or, on the host, does its work. It is
    called with the `user` that was given with it, by threads of the library too, and on the host for several chunks at
    once. Returns 0, or a number that stops the run. */
typedef int (*shiplap_kernel)(const shiplap_chunk* chunk, void* user);
/** Writes the first element and the number of elements that the kernel is handed for `count` items from `first` on.
    Returns 0, or a number that stops the call. */
typedef int (*shiplap_mapping)(uint64_t first, uint64_t count, void* user, uint64_t* first_element, uint64_t* elements);

/** Makes a job of `items` items; `name` stands in messages. */
shiplap_status shiplap_job_create(shiplap_job** job, const char* name, uint64_t items);
/** Gives a job back. Plans and steps that were made of it have what they need. */
void shiplap_job_destroy(shiplap_job* job);
/** Adds an array of `elements` elements of `element_size` bytes. `data` is host memory of any kind, or memory of the
    GPU; NULL for scratch. It stays the caller's, and must live as long as plans of the job run. */
shiplap_status shiplap_job_array(shiplap_job* job, const char* name, shiplap_role role, void* data, uint64_t elements,
                                 size_t element_size);
/** Says that the kernel reads what `before` items before its chunk and `after` items behind it own of an array too. */
shiplap_status shiplap_job_halo(shiplap_job* job, const char* array, uint64_t before, uint64_t after);
/** Says which elements of an array the kernel is handed for a chunk, where they are not those that its items own. */
shiplap_status shiplap_job_map(shiplap_job* job, const char* array, shiplap_mapping mapping, void* user);
/** Says that a broadcast or carried array stays on the GPU from run to run (see shiplap_changed, shiplap_fetch). */
shiplap_status shiplap_job_keep(shiplap_job* job, const char* array);
/** Sets the function that launches the kernel on a GPU. It is captured into a CUDA graph, so it launches only. */
shiplap_status shiplap_job_gpu_kernel(shiplap_job* job, shiplap_kernel kernel, void* user);
/** Sets the function that does the kernel's work on the host, which virtual devices run. */
shiplap_status shiplap_job_host_kernel(shiplap_job* job, shiplap_kernel kernel, void* user);
/** States the time of the kernel for all items, on data that are on the GPU. Without it a GPU is measured. */
shiplap_status shiplap_job_kernel_time(shiplap_job* job, double seconds);
/** States what the kernel does for all items, from which the time on a virtual device follows: floating-point
    operations, whether in double precision, and bytes that it reads and writes in the GPU's memory. */
shiplap_status shiplap_job_work(shiplap_job* job, double flops, int double_precision, double device_bytes);

/* --- steps --- */

/** Kernels and parts of the host that run one after the other over the same arrays. */
typedef struct shiplap_step shiplap_step;

/** A part of an array that the host reads or writes. */
typedef struct shiplap_access {
  void* data;   /**< its first byte */
  size_t bytes; /**< how many bytes */
  int writes;   /**< whether it is written, and perhaps read before; 0: it is only read */
} shiplap_access;
/** The work of a part of the host. Returns 0, or a number that stops the run. */
typedef int (*shiplap_host_work)(void* user);

/** Makes a step without parts; `name` stands in messages. */
shiplap_status shiplap_step_create(shiplap_step** step, const char* name);
/** Gives a step back. Plans that were made of it have what they need. */
void shiplap_step_destroy(shiplap_step* step);
/** Adds the kernel of a job with its arrays. Jobs that name the same memory share an array. */
shiplap_status shiplap_step_kernel(shiplap_step* step, const shiplap_job* job);
/** Adds a part of the host with its accesses to arrays of the step. `seconds` is what it takes, as far as it is known:
    the plan lets it run beside the GPU. */
shiplap_status shiplap_step_host(shiplap_step* step, const char* name, const shiplap_access* accesses, size_t count,
                                 shiplap_host_work work, void* user, double seconds);
/** Runs all parts `times` times in a step. */
shiplap_status shiplap_step_repeat(shiplap_step* step, uint64_t times);
/** Says that the host neither reads nor changes an array between steps (see shiplap_changed, shiplap_fetch). Arrays of
    a step have the names that jobs give them. */
shiplap_status shiplap_step_stays_on_gpu(shiplap_step* step, const char* array);
/** Says that an array has no values before and after a step. */
shiplap_status shiplap_step_temporary(shiplap_step* step, const char* array);

/* --- plans and runs --- */

/** What a caller may ask of a plan. SHIPLAP_OPTIONS has the defaults. */
typedef struct shiplap_options {
  size_t size;            /**< sizeof(shiplap_options) */
  uint64_t device_memory; /**< most bytes on the GPU; 0: as much as is free */
  uint64_t runs;          /**< how often the plan will run, which decides whether pinning pays */
  double race;            /**< seconds in which the best candidates race on the job's arrays; 0: predictions choose */
  int may_pin;            /**< whether arrays may be pinned */
  int quick;              /**< whether to plan within milliseconds, without a measurement of the kernel */
  int check_reach;        /**< whether to check first that the kernel accesses what the job declares */
} shiplap_options;
/** The defaults: shiplap_options options = SHIPLAP_OPTIONS; */
#define SHIPLAP_OPTIONS \
  { sizeof(shiplap_options), 0, 1, 0, 1, 0, 0 }

/** How a job or a step will be run. */
typedef struct shiplap_plan shiplap_plan;

/** Plans a job; NULL for `options` takes the defaults. On a GPU the kernel is launched to measure it; the arrays hold
    the same values afterwards. */
shiplap_status shiplap_plan_job(shiplap_plan** plan, const shiplap_node* node, const shiplap_job* job,
                                const shiplap_options* options);
/** Plans a step; of the options, `device_memory`, `quick` and `check_reach` count. */
shiplap_status shiplap_plan_step(shiplap_plan** plan, const shiplap_node* node, const shiplap_step* step,
                                 const shiplap_options* options);
/** Gives a plan back. What was prepared from it still runs. */
void shiplap_plan_destroy(shiplap_plan* plan);
/** What to do, what it gains and why, in lines of at most 80 columns. Valid until the plan is given back. */
const char* shiplap_explain(const shiplap_plan* plan);
/** The predicted time of a run in seconds. */
double shiplap_predicted(const shiplap_plan* plan);

/** A plan that is ready to run any number of times. */
typedef struct shiplap_prepared shiplap_prepared;

/** Binds a plan to the arrays of its job or step, and allocates memory on the GPU. */
shiplap_status shiplap_prepare(shiplap_prepared** prepared, const shiplap_node* node, const shiplap_plan* plan);
/** Frees the memory on the GPU. */
void shiplap_prepared_destroy(shiplap_prepared* prepared);
/** Runs once and waits for the end. `seconds` gets the time between the first operation and the end of the last one on
    the device; it may be NULL. */
shiplap_status shiplap_run(shiplap_prepared* prepared, double* seconds);
/** Says that the caller has changed an array that stays on the GPU: the next run brings it again. */
shiplap_status shiplap_changed(shiplap_prepared* prepared, const char* array);
/** Copies an array that stays on the GPU to the caller's memory, and waits. */
shiplap_status shiplap_fetch(shiplap_prepared* prepared, const char* array);

#ifdef __cplusplus
}
#endif

#endif
