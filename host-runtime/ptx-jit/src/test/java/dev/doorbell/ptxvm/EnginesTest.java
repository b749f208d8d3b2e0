package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The fast engine does what the interpreter does. */
class EnginesTest {
  private static final long MINUTE = 60_000_000_000L;
  private static final int BLOCKS = 2;
  private static final int THREADS = 64;

  /** Memory that a program leaves, and how many instructions it took. */
  @SuppressWarnings("ArrayRecordComponent") // compared element by element
  private record Outcome(byte[] own, byte[] out, byte[] cells, String engine) {}

  /** One world with one GPU, used for many programs. */
  private static final class Machine implements AutoCloseable {
    final Fabric fabric;
    final VmGpu gpu;

    /** Engines that may be said to execute a program. */
    final List<String> engines;

    Machine(VmOptions.Engine engine, long seed) {
      this(VmOptions.defaults().withEngine(engine), seed);
    }

    Machine(VmOptions options, long seed) {
      this(options, new DirectFabric(AddressSpace.reserve(), seed));
    }

    Machine(VmOptions options, Fabric fabric) {
      engines =
          switch (options.engine()) {
            case INTERPRETER -> List.of("interpreter");
            default ->
                fabric instanceof DirectFabric
                    ? List.of("warp", "interpreter (its lanes never meet)")
                    : List.of("interpreter (accesses take virtual time)");
          };
      this.fabric = fabric;
      gpu = new VmGpu(fabric, Locus.gpu(0, 0), options);
    }

    Outcome run(String ptx) {
      try (GpuModule module = gpu.load("random.ptx", World.ptx(ptx));
          Memory own = filled((long) BLOCKS * THREADS * RandomProgram.OWN_BYTES, 7);
          Memory out = filled((long) BLOCKS * THREADS * RandomProgram.OUT_BYTES, 0);
          Memory cells = filled(8L * RandomProgram.CELLS, 3);
          Memory flags = filled(4L * BLOCKS * RandomProgram.FLAGS, 0)) {
        Launch launch =
            gpu.launch(
                module.kernel("random"),
                LaunchConfig.of(BLOCKS, THREADS),
                new KernelArguments().add(own).add(out).add(cells).add(flags),
                gpu.createStream());
        RunOutcome outcome = fabric.run(launch::done, MINUTE);
        launch.check();
        assertThat(outcome).isEqualTo(RunOutcome.DONE);
        return new Outcome(bytes(own), bytes(out), bytes(cells), launch.engine());
      }
    }

    private Memory filled(long bytes, int factor) {
      Memory memory = gpu.allocate(MemoryKind.DEVICE, bytes, "data");
      byte[] content = new byte[(int) bytes];
      for (int i = 0; i < content.length; i++) {
        content[i] = (byte) (i * factor);
      }
      memory.putBytes(0, content);
      return memory;
    }

    private static byte[] bytes(Memory memory) {
      return memory.getBytes(0, (int) memory.size());
    }

    @Override
    public void close() {
      gpu.close();
      fabric.close();
    }
  }

  private static void requireSame(long seed, Machine interpreter, Machine compiler) {
    requireSame(seed, RandomProgram.of(seed), interpreter, compiler);
  }

  private static void requireSame(long seed, String ptx, Machine interpreter, Machine compiler) {
    Outcome expected;
    Outcome actual;
    try {
      expected = interpreter.run(ptx);
      actual = compiler.run(ptx);
    } catch (RuntimeException e) {
      throw new AssertionError("seed " + seed + ":\n" + ptx, e);
    }
    boolean same =
        Arrays.equals(expected.own, actual.own)
            && Arrays.equals(expected.out, actual.out)
            && Arrays.equals(expected.cells, actual.cells);
    assertThat(actual.engine).as("seed %d", seed).isIn(compiler.engines);
    assertThat(expected.engine).isEqualTo("interpreter");
    if (!same) {
      int at = Arrays.mismatch(expected.out, actual.out);
      throw new AssertionError(
          "seed %d: engines differ; thread %d, byte %d of its registers%n%s"
              .formatted(seed, at / RandomProgram.OUT_BYTES, at % RandomProgram.OUT_BYTES, ptx));
    }
  }

  @Test
  void random_programs_do_the_same_when_lanes_go_together() {
    try (Machine interpreter = new Machine(VmOptions.Engine.INTERPRETER, 0);
        Machine warps = new Machine(VmOptions.Engine.WARP, 0);
        Machine shuffled = new Machine(VmOptions.Engine.WARP, 99)) {
      for (long seed = 2001; seed <= 2020; seed++) {
        requireSame(seed, interpreter, seed % 2 == 0 ? warps : shuffled);
      }
    }
  }

  @Test
  void lanes_that_go_different_ways_leave_the_same() {
    try (Machine interpreter = new Machine(VmOptions.Engine.INTERPRETER, 0);
        Machine warps = new Machine(VmOptions.Engine.WARP, 0);
        Machine shuffled = new Machine(VmOptions.Engine.WARP, 99)) {
      for (long seed = 1; seed <= 30; seed++) {
        Machine compiler = seed % 2 == 0 ? warps : shuffled;
        requireSame(seed, DivergentProgram.of(seed), interpreter, compiler);
      }
    }
  }

  @Test
  void programs_that_are_compiled_while_they_run_leave_the_same() {
    VmOptions warps = VmOptions.defaults().withEngine(VmOptions.Engine.WARP);
    try (Machine interpreter = new Machine(VmOptions.Engine.INTERPRETER, 0);
        Machine early = new Machine(warps.withCompileAfter(500), 0);
        Machine late = new Machine(warps.withCompileAfter(3000), 99)) {
      for (long seed = 3001; seed <= 3014; seed++) {
        Machine compiler = seed % 2 == 0 ? early : late;
        requireSame(seed, interpreter, compiler);
        requireSame(seed, DivergentProgram.of(seed), interpreter, compiler);
      }
    }
  }

  @Test
  void random_programs_do_the_same_where_loads_go_ahead_of_their_thread() {
    VmOptions options = VmOptions.defaults().withEngine(VmOptions.Engine.INTERPRETER);
    ParkingFabric two = new ParkingFabric(1, 2);
    ParkingFabric many = new ParkingFabric(2, 56);
    try (Machine interpreter = new Machine(VmOptions.Engine.INTERPRETER, 0);
        Machine few = new Machine(options, two);
        Machine enough = new Machine(options, many)) {
      for (long seed = 5001; seed <= 5010; seed++) {
        Machine ahead = seed % 2 == 0 ? few : enough;
        requireSame(seed, interpreter, ahead);
        requireSame(seed, DivergentProgram.of(seed), interpreter, ahead);
        requireSame(seed, LoadingProgram.of(seed), interpreter, ahead);
      }
    }
    assertThat(two.mostAhead).isEqualTo(2);
    assertThat(many.mostAhead).isGreaterThan(8);
  }

  /**
   * Every engine, from the first instruction and from the midst of a launch: {@code
   * -Ddoorbell.fuzz.rounds=} of three programs, from {@code -Ddoorbell.fuzz.seed=} on.
   */
  @Test
  @Tag("slow")
  void many_random_programs_agree() {
    long rounds = Long.getLong("doorbell.fuzz.rounds", 400);
    long from = Long.getLong("doorbell.fuzz.seed", 1_000_000);
    VmOptions warps = VmOptions.defaults().withEngine(VmOptions.Engine.WARP);
    List<Machine> compilers = new ArrayList<>();
    try (Machine interpreter = new Machine(VmOptions.Engine.INTERPRETER, 0)) {
      compilers.add(new Machine(warps, 0));
      compilers.add(new Machine(warps, 99));
      compilers.add(new Machine(warps.withCompileAfter(1000), 7));
      compilers.add(new Machine(warps.withCompileAfter(3000), 0));
      compilers.add(
          new Machine(
              VmOptions.defaults().withEngine(VmOptions.Engine.INTERPRETER),
              new ParkingFabric(from, 7)));
      for (long seed = from; seed < from + rounds; seed++) {
        Machine compiler = compilers.get((int) Long.remainderUnsigned(seed, compilers.size()));
        requireSame(seed, interpreter, compiler);
        requireSame(seed, DivergentProgram.of(seed), interpreter, compiler);
        requireSame(seed, LoadingProgram.of(seed), interpreter, compiler);
      }
    } finally {
      compilers.forEach(Machine::close);
    }
  }
}
