package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.Multicast;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code multimem} over three members, against a computation of its own. */
class MultimemTest {
  private static final int MEMBERS = 3;
  private static final int BYTES = 64;
  private static final int AT = 16;

  /** A world with a multicast object whose members hold small numbers of a type. */
  private static final class Bench implements AutoCloseable {
    final World world = new World();
    final List<Memory> members = new ArrayList<>();
    final Multicast multicast;
    final Memory plain = world.device(BYTES);

    Bench(String type, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int i = 0; i < MEMBERS; i++) {
        Memory member = world.device(BYTES);
        byte[] content = new byte[BYTES];
        ByteBuffer bytes = buffer(content);
        for (int at = 0; at < BYTES; at += width(type)) {
          put(bytes, at, type, random.nextInt(-40, 41));
        }
        member.putBytes(0, content);
        members.add(member);
      }
      multicast =
          new Multicast(world.fabric.memory(), Locus.gpu(0, 0), members, "members of the test");
    }

    /** Runs a kernel whose first address is %rd1, in the object, and whose other is %rd2. */
    void run(String body) {
      String ptx =
          """
          .visible .entry k(.param .u64 one, .param .u64 other) {
            .reg .b16 %%h<9>; .reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .b64 %%rd<9>;
            ld.param.u64 %%rd1, [one];
            ld.param.u64 %%rd2, [other];
            %s
            ret;
          }
          """
              .formatted(body);
      KernelArguments arguments =
          new KernelArguments().add(multicast.address()).add(plain.address());
      world.runText(ptx, "k", LaunchConfig.of(1, 1), arguments);
    }

    byte[] bytes(int member) {
      return members.get(member).getBytes(0, BYTES);
    }

    @Override
    public void close() {
      multicast.close();
      world.close();
    }
  }

  private static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Bytes of an element; a pair has two. */
  private static int width(String type) {
    return type.contains("16") ? 2 : type.endsWith("64") ? 8 : 4;
  }

  private static void put(ByteBuffer to, int at, String type, double value) {
    switch (type) {
      case "f16", "f16x2" -> to.putShort(at, Float.floatToFloat16((float) value));
      case "bf16", "bf16x2" ->
          to.putShort(at, (short) (Float.floatToRawIntBits((float) value) >>> 16));
      case "f32" -> to.putFloat(at, (float) value);
      case "f64" -> to.putDouble(at, value);
      default -> {
        if (width(type) == 4) {
          to.putInt(at, (int) value);
        } else {
          to.putLong(at, (long) value);
        }
      }
    }
  }

  private static double get(ByteBuffer from, int at, String type) {
    return switch (type) {
      case "f16", "f16x2" -> Float.float16ToFloat(from.getShort(at));
      case "bf16", "bf16x2" -> Float.intBitsToFloat(from.getShort(at) << 16);
      case "f32" -> from.getFloat(at);
      default -> from.getDouble(at);
    };
  }

  /** Expected result of one element; sums of the values here are exact in every type. */
  private static void reduce(
      String operation, String type, ByteBuffer into, ByteBuffer value, int at) {
    if (type.contains("f")) {
      DoubleBinaryOperator join =
          switch (operation) {
            case "min" -> Math::min;
            case "max" -> Math::max;
            default -> Double::sum;
          };
      put(into, at, type, join.applyAsDouble(get(into, at, type), get(value, at, type)));
      return;
    }
    boolean unsigned = type.startsWith("u");
    LongBinaryOperator join =
        switch (operation) {
          case "and" -> (a, b) -> a & b;
          case "or" -> (a, b) -> a | b;
          case "xor" -> (a, b) -> a ^ b;
          case "min" ->
              (a, b) -> (unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b)) < 0 ? a : b;
          case "max" ->
              (a, b) -> (unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b)) > 0 ? a : b;
          default -> Long::sum;
        };
    if (width(type) == 4) {
      long mask = unsigned ? 0xffffffffL : -1L;
      into.putInt(at, (int) join.applyAsLong(into.getInt(at) & mask, value.getInt(at) & mask));
    } else {
      into.putLong(at, join.applyAsLong(into.getLong(at), value.getLong(at)));
    }
  }

  private static int count(String form) {
    int vector = ("." + form).indexOf(".v");
    return vector < 0 ? 1 : form.charAt(vector + 1) - '0';
  }

  private static String registers(String form, String type) {
    String one =
        type.equals("f16") || type.equals("bf16")
            ? "%h"
            : type.equals("f32") ? "%f" : type.endsWith("64") ? "%rd" : "%r";
    int count = count(form);
    if (count == 1) {
      return one + "3";
    }
    StringBuilder all = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      all.append(i == 0 ? "" : ", ").append(one).append(i + 1);
    }
    return all.append('}').toString();
  }

  /** Bytes that a form takes of a member. */
  private static int size(String form, String type) {
    int count = count(form);
    return count * (type.endsWith("x2") ? 4 : width(type));
  }

  private static String type(String form) {
    return form.substring(form.lastIndexOf('.') + 1);
  }

  /** Moves between registers of the form's type and plain memory. */
  private static String moves(boolean store, String form, String type) {
    StringBuilder text = new StringBuilder();
    String all = registers(form, type).replaceAll("[{} ]", "");
    int each = size(form, type) / all.split(",", -1).length;
    int at = 0;
    for (String register : all.split(",", -1)) {
      String bits = register.startsWith("%f") ? "f32" : "b" + each * 8;
      text.append(
          store
              ? "st.global.%s [%%rd2+%d], %s;\n".formatted(bits, at, register)
              : "ld.global.%s %s, [%%rd2+%d];\n".formatted(bits, register, at));
      at += each;
    }
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "add.u32",
        "relaxed.sys.global.add.s32",
        "acquire.gpu.global.add.u64",
        "min.s32",
        "max.s64",
        "acquire.sys.global.min.u64",
        "max.u32",
        "and.b32",
        "weak.global.or.b64",
        "xor.b32",
        "add.f32",
        "add.f64",
        "add.v2.f32",
        "relaxed.sys.global.add.v4.f32",
        "add.f16x2",
        "add.acc::f32.f16x2",
        "min.v2.f16x2",
        "max.v4.f16",
        "relaxed.sys.global.add.acc::f32.v4.bf16x2",
        "add.v8.bf16",
        "max.bf16x2",
        "min.v2.bf16"
      })
  void ld_reduce_gives_what_the_members_hold_together(String form) {
    String type = type(form);
    String operation =
        form.replaceFirst("^.*?(add|min|max|and|or\\.|xor).*$", "$1").replace(".", "");
    try (Bench bench = new Bench(type, form.hashCode())) {
      bench.run(
          "multimem.ld_reduce.%s %s, [%%rd1+%d];%n%s"
              .formatted(form, registers(form, type), AT, moves(true, form, type)));
      ByteBuffer expected = buffer(bench.bytes(0));
      for (int at = AT; at < AT + size(form, type); at += width(type)) {
        for (int member = 1; member < MEMBERS; member++) {
          reduce(operation, type, expected, buffer(bench.bytes(member)), at);
        }
      }
      byte[] wanted = new byte[size(form, type)];
      expected.get(AT, wanted);
      assertThat(bench.plain.getBytes(0, wanted.length)).as(form).isEqualTo(wanted);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "add.u32",
        "release.sys.global.add.u64",
        "min.s32",
        "max.u64",
        "or.b32",
        "add.f32",
        "add.v4.f32",
        "add.f16x2",
        "add.v4.bf16x2",
        "add.v4.f16"
      })
  void red_changes_every_member_by_itself(String form) {
    String type = type(form);
    String operation =
        form.replaceFirst("^.*?(add|min|max|and|or\\.|xor).*$", "$1").replace(".", "");
    try (Bench bench = new Bench(type, form.hashCode())) {
      byte[] operand = bench.bytes(1);
      bench.plain.putBytes(0, operand);
      List<byte[]> expected = new ArrayList<>();
      for (int member = 0; member < MEMBERS; member++) {
        byte[] content = bench.bytes(member);
        ByteBuffer bytes = buffer(content);
        for (int at = 0; at < size(form, type); at += width(type)) {
          reduce(operation, type, bytes, buffer(operand), at);
        }
        expected.add(content);
      }
      bench.run(
          "%smultimem.red.%s [%%rd1], %s;"
              .formatted(moves(false, form, type), form, registers(form, type)));
      for (int member = 0; member < MEMBERS; member++) {
        assertThat(bench.bytes(member)).as(form).isEqualTo(expected.get(member));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "global.u32",
        "release.sys.global.b64",
        "f64",
        "global.v4.f32",
        "v2.f16x2",
        "v8.bf16"
      })
  void st_stores_to_every_member_and_no_further(String form) {
    String type = type(form);
    try (Bench bench = new Bench(type, form.hashCode())) {
      List<byte[]> expected = new ArrayList<>();
      byte[] stored = bench.bytes(1);
      bench.plain.putBytes(0, stored);
      for (int member = 0; member < MEMBERS; member++) {
        byte[] bytes = bench.bytes(member);
        System.arraycopy(stored, 0, bytes, AT, size(form, type));
        expected.add(bytes);
      }
      bench.run(
          "%smultimem.st.%s [%%rd1+%d], %s;"
              .formatted(moves(false, form, type), form, AT, registers(form, type)));
      for (int member = 0; member < MEMBERS; member++) {
        assertThat(bench.bytes(member)).as(form).isEqualTo(expected.get(member));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "multimem.ld_reduce.add.s64 %rd3, [%rd1];",
        "multimem.ld_reduce.add.b32 %r3, [%rd1];",
        "multimem.ld_reduce.min.f32 %f3, [%rd1];",
        "multimem.ld_reduce.add.acc::f32.f32 %f3, [%rd1];",
        "multimem.ld_reduce.add.v4.e5m2x4 {%r1, %r2, %r3, %r4}, [%rd1];",
        "multimem.red.min.v2.f16x2 [%rd1], {%r1, %r2};",
        "multimem.red.add.v2.u32 [%rd1], {%r1, %r2};",
        "multimem.st.b16 [%rd1], %h1;"
      })
  void what_ptx_does_not_have_stops_who_gets_there(String line) {
    try (Bench bench = new Bench("u32", 1)) {
      bench.run("bra END;\n" + line + "\nEND:");
      assertThatThrownBy(() -> bench.run(line))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("this form of multimem is not supported");
    }
  }

  @Test
  void multicast_addresses_are_for_multimem_alone_and_it_for_them() {
    try (Bench bench = new Bench("u32", 1)) {
      assertThatThrownBy(() -> bench.run("ld.global.u32 %r3, [%rd1];"))
          .hasMessageContaining("load of 4 bytes")
          .hasMessageContaining("multicast memory");
      assertThatThrownBy(() -> bench.run("multimem.red.add.u32 [%rd2], %r3;"))
          .hasMessageContaining("not in a multicast object");
      assertThatThrownBy(() -> bench.run("multimem.red.add.u32 [%rd1+" + BYTES + "], %r3;"))
          .hasMessageContaining("not in a multicast object");
      assertThatThrownBy(() -> bench.run("multimem.red.add.u64 [%rd1+4], %rd3;"))
          .hasMessageContaining("misaligned multimem access");
    }
  }

  @Test
  void sums_of_halves_are_rounded_once_where_they_are_kept_in_f32() {
    for (String how : List.of("", ".acc::f32")) {
      try (Bench bench = new Bench("f16", 1)) {
        float[] values = {2048, 1, 1};
        for (int member = 0; member < MEMBERS; member++) {
          byte[] content = new byte[BYTES];
          ByteBuffer bytes = buffer(content);
          put(bytes, 0, "f16", values[member]);
          bench.members.get(member).putBytes(0, content);
        }
        bench.run(
            "multimem.ld_reduce.add%s.f16x2 %%r3, [%%rd1]; st.global.b32 [%%rd2], %%r3;"
                .formatted(how));
        assertThat(get(buffer(bench.plain.getBytes(0, BYTES)), 0, "f16"))
            .isEqualTo(how.isEmpty() ? 2048 : 2050);
      }
    }
  }

  @Test
  void members_have_one_size() {
    try (World world = new World()) {
      List<Memory> members = List.of(world.device(BYTES), world.device(2 * BYTES));
      assertThatThrownBy(
              () -> new Multicast(world.fabric.memory(), Locus.gpu(0, 0), members, "uneven"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'uneven'");
    }
  }
}
