// Compiled together with a kernel: ENTRY is its name, SOURCE its file.
#include SOURCE

#include <random>
#include <utility>

static void** arguments;
template <class... P, size_t... I> void call(void (*kernel)(P...), std::index_sequence<I...>) { kernel((P)arguments[I]...); }
template <class... P> void call(void (*kernel)(P...)) { call(kernel, std::index_sequence_for<P...>()); }
static void begin() {
  call(ENTRY);
  current->done = true;
  yield();
}

// Runs one cluster after the other. With a `seed`, its threads take turns, and copies arrive, in random order. Returns how
// many bytes were written beyond the end of shared memory.
extern "C" int launch(void** given, int blocks, int threads, int blocks_of_cluster, int memory, int seed) {
  constexpr size_t STACK = 1 << 18, MARGIN = 1024;
  std::mt19937 random(seed);
  arguments = given;
  threads_of_block = threads;
  int wrong = 0;
  for (int first = 0; first < blocks; first += blocks_of_cluster) {
    cluster = std::vector<Block>(blocks_of_cluster);
    of_cluster = {};
    std::vector<Fibre> fibres(blocks_of_cluster * threads);
    for (size_t i = 0; i < fibres.size(); i++) {
      Fibre& fibre = fibres[i];
      Block& block = cluster[i / threads];
      if (i % threads == 0) {
        block.index = first + i / threads;
        block.store.assign(memory + 2 * MARGIN, (char)0xFF);  // not a number
        block.memory = block.store.data() + MARGIN - (uintptr_t)block.store.data() % MARGIN;
      }
      fibre.thread = i % threads;
      fibre.block = &block;
      fibre.stack.resize(STACK);
      getcontext(&fibre.context);
      fibre.context.uc_stack.ss_sp = fibre.stack.data();
      fibre.context.uc_stack.ss_size = STACK;
      makecontext(&fibre.context, begin, 0);
    }
    std::vector<Fibre*> turns;
    for (Fibre& fibre : fibres) turns.push_back(&fibre);
    while (!turns.empty()) {
      if (seed) std::shuffle(turns.begin(), turns.end(), random);
      for (Fibre* fibre : turns) {
        // Some warps sleep while others go on.
        if (seed && ((fibre->thread >> 5) * 2654435761u + random()) >> 16 & 1) continue;
        current = fibre;
        swapcontext(&scheduler, &fibre->context);
      }
      std::erase_if(turns, [](Fibre* fibre) { return fibre->done; });
      if (seed) std::shuffle(in_flight.begin(), in_flight.end(), random);
      size_t staying = seed ? in_flight.size() / 2 : 0;
      while (in_flight.size() > staying) {
        in_flight.back()();
        in_flight.pop_back();
      }
    }
    for (Block& block : cluster)
      wrong += std::count_if(block.memory + memory, block.store.data() + block.store.size(), [](char x) { return x != (char)0xFF; });
  }
  return wrong;
}
