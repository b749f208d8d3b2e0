package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Every instruction against what an NVIDIA H200 (driver 580, CUDA 13.0) computed from the same
 * operands.
 */
class OpcodeTest {
  /**
   * A table.
   *
   * @param results what came out, a resource
   * @param sha256 of the PTX that ran on the H200; when the program changes, it has to run again
   */
  record Table(String name, OpcodeProgram program, String results, String sha256) {
    @Override
    public String toString() {
      return name;
    }
  }

  @SuppressWarnings("unused") // by name, below
  private static final List<Table> TABLES =
      List.of(
          new Table(
              "first",
              new OpcodeProgram(),
              "opcodes-h200.bin",
              "4384548b3596873b4fbe1a7da4a27d58e33d09a3ae5cf149868fdbf6f7cb54ca"),
          new Table(
              "later",
              new OpcodeProgram(LaterOpcodes.cases()),
              "opcodes-later-h200.bin",
              "ef62bd2d0cde3673c6b3f23fb46ae515292de10ff246c27736eb062aaab7afe9"));

  @ParameterizedTest
  @FieldSource("TABLES")
  void the_recorded_results_belong_to_this_program(Table table) throws Exception {
    byte[] digest =
        MessageDigest.getInstance("SHA-256")
            .digest(table.program.ptx().getBytes(StandardCharsets.UTF_8));
    assertThat(HexFormat.of().formatHex(digest)).isEqualTo(table.sha256);
  }

  @ParameterizedTest
  @FieldSource("TABLES")
  void every_instruction_computes_what_the_hardware_does(Table table) {
    OpcodeProgram program = table.program;
    ByteBuffer expected =
        ByteBuffer.wrap(World.bytes(table.results)).order(ByteOrder.LITTLE_ENDIAN);
    List<String> wrong = new ArrayList<>();
    try (World world = new World()) {
      GpuModule module = world.gpu.load("opcodes.ptx", program.ptx());
      Memory in = world.device(OpcodeProgram.LANES * OpcodeOperands.COUNT * Long.BYTES);
      Memory out = world.device(OpcodeProgram.LANES * Long.BYTES);
      for (int i = 0; i < program.cases().size(); i++) {
        OpcodeProgram.Case one = program.cases().get(i);
        in.putBytes(0, OpcodeOperands.of(one.inputs()));
        world
            .run(
                module,
                "t" + i,
                LaunchConfig.of(1, OpcodeProgram.LANES),
                new KernelArguments().add(in).add(out))
            .check();
        for (int lane = 0; lane < OpcodeProgram.LANES; lane++) {
          long there = expected.getLong();
          long here = out.getLong(lane * 8L);
          if (here != there && !isOpen(one, here, there)) {
            wrong.add(
                "%s lane %d: %x, hardware %x, operands %x %x %x %x"
                    .formatted(
                        one.text(),
                        lane,
                        here,
                        there,
                        in.getLong(lane * 32L),
                        in.getLong(lane * 32L + 8),
                        in.getLong(lane * 32L + 16),
                        in.getLong(lane * 32L + 24)));
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** PTX leaves the payload of an f64 NaN open, and where a warp happens to be placed. */
  private static boolean isOpen(OpcodeProgram.Case one, long a, long b) {
    if (one.text().contains("%warpid")) {
      return true;
    }
    return one.registers().charAt(0) == 'd'
        && Double.isNaN(Double.longBitsToDouble(a))
        && Double.isNaN(Double.longBitsToDouble(b));
  }
}
