package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several PTX files as one module, by the rules of PTX ISA, "Linking Directives". */
class LinkTest {
  private static final String KERNEL =
      """
      .extern .func (.param .b32 r) twice (.param .b32 x);
      .extern .global .align 4 .b8 state[8];
      .extern .const .align 4 .u32 factor;
      .visible .entry k(.param .u64 out) {
        .reg .b32 %r<6>;
        .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [out];
        ld.global.u32 %r1, [state+4];
        ld.const.u32 %r2, [factor];
        mul.lo.u32 %r3, %r1, %r2;
        {
          .param .b32 a;
          .param .b32 b;
          st.param.b32 [a], %r3;
          call.uni (b), twice, (a);
          ld.param.b32 %r4, [b];
        }
        st.global.u32 [%rd1], %r4;
        ret;
      }
      """;

  private static final String LIBRARY =
      """
      .visible .global .align 4 .b8 state[8] = {0, 0, 0, 0, 5, 0, 0, 0};
      .visible .const .align 4 .u32 factor = 3;
      .global .u32 two = 2;
      .visible .func (.param .b32 r) twice (.param .b32 x) {
        .reg .b32 %r<4>;
        ld.param.b32 %r1, [x];
        ld.global.u32 %r2, [two];
        mul.lo.u32 %r3, %r1, %r2;
        st.param.b32 [r], %r3;
        ret;
      }
      """;

  private static String joined(String... bodies) {
    List<PtxFiles.Part> parts = new ArrayList<>();
    for (String body : bodies) {
      String name = (char) ('a' + parts.size()) + ".ptx";
      parts.add(new PtxFiles.Part(name, World.ptx(body), 0));
    }
    return PtxFiles.join(parts);
  }

  private static int result(String... bodies) {
    try (World world = new World();
        Memory out = world.device(Long.BYTES)) {
      GpuModule module = world.gpu.load("a.ptx", joined(bodies));
      world.run(module, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
      return (int) out.getLong(0);
    }
  }

  @Test
  void kernels_that_share_functions_are_linked_when_they_are_asked_for() {
    String second = KERNEL.replaceAll("(?m)^.extern.*\\n", "").replace(" k(", " again(");
    String text = link(List.of(World.ptx(KERNEL + second), World.ptx(LIBRARY)));
    try (World world = new World();
        Memory out = world.device(Long.BYTES)) {
      GpuModule module = world.gpu.load("all", text);
      assertThat(module.entries()).containsExactly("k", "again");
      for (String entry : List.of("again", "k", "again")) {
        out.putLong(0, 0);
        world.run(module, entry, LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
        assertThat(out.getLong(0)).isEqualTo(30);
      }
    }
  }

  @Test
  void a_refusal_in_a_shared_function_is_named_once_with_its_file() {
    String broken = LIBRARY.replace("mul.lo.u32 %r3, %r1, %r2;", "frob.u32 %r3, %r1;");
    String second = KERNEL.replaceAll("(?m)^.extern.*\\n", "").replace(" k(", " again(");
    assertThat(World.check("all", link(List.of(World.ptx(KERNEL + second), World.ptx(broken)))))
        .extracting(refusal -> refusal.text())
        .containsExactly("frob.u32 %r3, %r1;");
  }

  @Test
  void an_array_of_unknown_size_asks_for_the_file_that_defines_it() {
    String alone = World.ptx(".extern .global .b8 table[];\n.visible .entry k() { ret; }\n");
    assertThat(World.check("a.ptx", alone))
        .extracting(refusal -> refusal.reason())
        .containsExactly(
            "variable 'table' is defined in another file, and its size is not known here: link it"
                + " with the file that defines it (--link FILE.ptx)");
    String defined = World.ptx(".visible .global .b8 table[4] = {1, 2, 3, 4};\n");
    assertThat(World.check("a.ptx", link(List.of(alone, defined)))).isEmpty();
  }

  private static void refused(String message, String... bodies) {
    try (World world = new World()) {
      assertThatThrownBy(() -> world.gpu.load("a.ptx", joined(bodies)))
          .hasMessageContaining(message);
    }
  }

  /** A kernel that stores a global of another file. */
  private static String reader(String declaration) {
    return declaration
        + """

        .visible .entry k(.param .u64 out) {
          .reg .b32 %r<2>;
          .reg .b64 %rd<2>;
          ld.param.u64 %rd1, [out];
          ld.global.u32 %r1, [v];
          st.global.u32 [%rd1], %r1;
          ret;
        }
        """;
  }

  @Test
  void what_is_extern_is_what_another_file_defines_whatever_the_order() {
    assertThat(result(KERNEL, LIBRARY)).isEqualTo(30);
    assertThat(result(LIBRARY, KERNEL)).isEqualTo(30);
  }

  @Test
  void names_without_a_directive_belong_to_their_file() {
    String own = ".global .u32 two = 7;\n.global .u32 v = 1;\n" + KERNEL;
    assertThat(result(own, LIBRARY)).isEqualTo(30);
    String twice =
        LIBRARY.replace(".visible .func", ".func").replace(".visible .global", ".global");
    refused(
        "'state' is defined in none of the files", KERNEL.replace("state[8]", "state[]"), twice);
  }

  @Test
  void a_visible_definition_wins_over_a_weak_one_wherever_it_stands() {
    String weak = reader(".weak .global .u32 v = 1;");
    assertThat(result(weak, ".visible .global .u32 v = 2;")).isEqualTo(2);
    assertThat(result(".visible .global .u32 v = 2;", weak)).isEqualTo(2);
    assertThat(result(weak, ".weak .global .u32 v = 3;")).isEqualTo(1);
    assertThat(result(".weak .global .u32 v = 3;", weak)).isEqualTo(3);
  }

  @Test
  void of_common_definitions_the_largest_is_one_for_all() {
    String small = reader(".common .global .align 4 .b8 v[4];");
    assertThat(result(small, ".common .global .align 4 .b8 v[16] = {9, 0, 0, 0};")).isEqualTo(9);
    refused(
        "common 'v' has an initialiser here and more bytes, 16, in b.ptx:4",
        reader(".common .global .u32 v = 1;"),
        ".common .global .align 4 .b8 v[16];");
  }

  @Test
  void two_visible_definitions_are_refused_with_both_lines() {
    refused(
        "b.ptx:5: 'v' is defined twice, first in a.ptx:4: ",
        reader(".visible .global .u32 v = 1;"),
        "\n.visible .global .u32 v = 1;");
  }

  @Test
  void declarations_have_to_agree_with_what_they_stand_for() {
    refused(
        "a.ptx:4: 'v' is declared with 4 bytes, and defined otherwise in b.ptx:4: ",
        reader(".extern .global .u32 v;"),
        ".visible .global .u64 v = 1;");
    refused(
        "'v' is declared .global, and defined otherwise in b.ptx:4",
        reader(".extern .global .u32 v;"),
        ".visible .const .u32 v = 1;");
    refused(
        "'twice' is declared with other parameters or results, and defined otherwise in b.ptx:7",
        KERNEL.replace("(.param .b32 x)", "(.param .b64 x)"),
        LIBRARY);
  }

  @Test
  void shared_memory_of_another_file_is_the_same_memory() {
    String kernel =
        """
        .extern .func put ();
        .extern .shared .align 4 .b8 box[64];
        .visible .entry k(.param .u64 out) {
          .reg .b32 %r<2>;
          .reg .b64 %rd<2>;
          ld.param.u64 %rd1, [out];
          call.uni put, ();
          ld.shared.u32 %r1, [box+8];
          st.global.u32 [%rd1], %r1;
          ret;
        }
        """;
    String other =
        """
        .visible .shared .align 4 .b8 box[64];
        .visible .func put () {
          st.shared.u32 [box+8], 77;
          ret;
        }
        """;
    assertThat(result(kernel, other)).isEqualTo(77);
  }

  @Test
  void what_no_file_defines_the_host_may_fill() {
    try (World world = new World();
        Memory out = world.device(Long.BYTES)) {
      GpuModule module =
          world.gpu.load(
              "a.ptx", joined(reader(".extern .global .u32 v;"), ".extern .global .u32 v;"));
      module.global("v").putBytes(0, new byte[] {41, 0, 0, 0});
      world.run(module, "k", LaunchConfig.of(1, 1), new KernelArguments().add(out)).check();
      assertThat(out.getLong(0)).isEqualTo(41);
    }
  }

  @Test
  void messages_name_the_file_and_its_line() {
    refused(
        "b.ptx:4: instruction not supported",
        reader(".visible .global .u32 v;"),
        """
        .visible .func f () { .reg .b32 %r1; frob.u32 %r1; ret; }
        """);
    assertThat(World.check("a.ptx", joined(KERNEL, LIBRARY))).isEmpty();
  }

  private static String link(List<String> ptx) {
    List<PtxFiles.Part> parts = new ArrayList<>();
    for (String text : ptx) {
      parts.add(new PtxFiles.Part(parts.size() + 1 + ".ptx", text, 0));
    }
    return PtxFiles.join(parts);
  }
}
