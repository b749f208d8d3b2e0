package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a kernel's author types, and what is answered to good and bad lines. */
class KernelCommandsTest {
  @TempDir private Path folder;
  private final Session session = new Session();
  private String ptx = "";
  private String input = "";

  @BeforeEach
  void bring_files() throws IOException {
    ptx = copy("scale.ptx").toString();
    copy("scale.cu");
    ByteBuffer floats = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 16; i++) {
      floats.putFloat(i);
    }
    input = Files.write(folder.resolve("x.bin"), floats.array()).toString();
  }

  private Path copy(String name) throws IOException {
    try (InputStream in =
        KernelCommandsTest.class.getResourceAsStream("/dev/doorbell/experiments/kernels/" + name)) {
      Path target = folder.resolve(name);
      Files.write(target, Objects.requireNonNull(in, name).readAllBytes());
      return target;
    }
  }

  private ExitCode scale(String... more) {
    List<String> words =
        new ArrayList<>(List.of("kernel", "run", ptx, "--entry", "scale", "--block", "16"));
    words.addAll(List.of("--arg", "in:" + input, "--arg", "out:" + folder + "/y.bin:64"));
    words.addAll(List.of("--arg", "f32:2.5", "--arg", "u32:16"));
    words.addAll(List.of(more));
    return session.type(words.toArray(String[]::new));
  }

  @Test
  void buffers_come_from_files_and_go_to_files() throws IOException {
    assertThat(scale("--dump", "f32")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("kernel scale   grid 1   block 16   seed 0")
        .contains("argument 2  out:")
        .contains("00000010  10.0  12.5  15.0  17.5")
        .contains("304 instructions in ")
        .doesNotContain("argument 1");
    ByteBuffer written =
        ByteBuffer.wrap(Files.readAllBytes(folder.resolve("y.bin"))).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(written.getFloat(60)).isEqualTo(37.5f);
  }

  @Test
  void multimem_reaches_all_members_of_a_multicast_argument() throws IOException {
    Path file = folder.resolve("sum.ptx");
    Files.writeString(
        file,
        """
        .version 8.2
        .target sm_90
        .address_size 64
        .visible .entry sum(.param .u64 all, .param .u64 result) {
          .reg .b32 %r<3>; .reg .b64 %rd<3>;
          ld.param.u64 %rd1, [all];
          ld.param.u64 %rd2, [result];
          multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];
          st.global.u32 [%rd2], %r1;
          mov.u32 %r2, 7;
          multimem.st.relaxed.sys.global.u32 [%rd1+4], %r2;
          ret;
        }
        """);
    Path one = Files.write(folder.resolve("one.bin"), new byte[] {5, 0, 0, 0, 0, 0, 0, 0});
    Path two = Files.write(folder.resolve("two.bin"), new byte[] {6, 1, 0, 0, 0, 0, 0, 0});
    String members = "multicast:%s,%s".formatted(one, two);
    assertThat(run(file, members)).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("00000000  5  7  262  7")
        .containsPattern("argument 2  zero:4\\R  00000000  267");
    assertThat(run(file, "multicast:3x8")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("00000000  0  7  0  7").contains("00000010  0  7");
    Files.write(two, new byte[4]);
    assertThat(run(file, members)).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("members of a multicast object are of one size");
  }

  private ExitCode run(Path file, String members) {
    return session.type(
        "kernel", "run", file.toString(), "--arg", members, "--arg", "zero:4", "--dump", "u32");
  }

  @Test
  void a_buffer_that_is_both_comes_back_changed() throws IOException {
    assertThat(
            session.type(
                "kernel",
                "run",
                ptx,
                "--entry",
                "scale",
                "--block",
                "4,2,2",
                "--grid",
                "2",
                "--arg",
                "in:" + input,
                "--arg",
                "inout:" + input,
                "--arg",
                "f32:-1",
                "--arg",
                "u32:1",
                "--dump",
                "1:u32",
                "--dump-bytes",
                "8"))
        .isEqualTo(ExitCode.OK);
    assertThat(Files.readAllBytes(Path.of(input))[3]).isEqualTo((byte) 0x80);
    assertThat(session.out())
        .contains("argument 1")
        .contains("00000000  0  1065353216")
        .contains("...       56 more bytes");
  }

  @Test
  void the_profile_counts_opcodes_and_lines_and_names_their_source() {
    assertThat(scale("--profile", "-q")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .containsPattern("mov\\.u32 +48 +15\\.8 %")
        .containsPattern("st\\.global\\.f32 +16 +5\\.3 %")
        .containsPattern("16 +5\\.3 % +mad\\.lo\\.s32 %r1, %r3, %r4, %r5; +scale\\.cu:5");
  }

  @Test
  void the_trace_shows_what_chosen_threads_read_and_wrote() {
    assertThat(scale("--trace=3", "-q")).isEqualTo(ExitCode.OK);
    assertThat(session.out().lines().filter(line -> line.startsWith("t")))
        .hasSize(19)
        .allMatch(line -> line.startsWith("t3 "))
        .anyMatch(
            line ->
                line.contains("mul.f32 %f3, %f2, %f1;")
                    && line.contains("%f2=3.0 %f1=2.5 -> %f3=7.5   (scale.cu:7)"));
    scale("--trace", "-q");
    assertThat(session.out()).contains("t0 ").doesNotContain("t1 ");
    scale("--trace=0-1,5", "-q", "--trace-lines", "20");
    assertThat(session.out()).contains("...   37 more instructions");
  }

  @Test
  void json_holds_all_of_it() {
    assertThat(scale("--json", "--profile")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .startsWith("{")
        .contains("\"instructions\" : 304")
        .contains("\"what\" : \"mov.u32\"")
        .contains("00002041");
  }

  @Test
  void an_access_past_a_buffer_names_line_thread_and_argument() {
    assertThat(
            session.type(
                "kernel",
                "run",
                ptx,
                "--entry",
                "scale",
                "--block",
                "16",
                "--arg",
                "in:" + input,
                "--arg",
                "out:" + folder + "/z.bin:32",
                "--arg",
                "f32:2",
                "--arg",
                "u32:16"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.err())
        .startsWith(ptx + "  DB-K007  kernel scale was stopped: store of 4 bytes at 0x")
        .contains("0 bytes past the end of 'argument 2 (out:")
        .contains("'st.global.f32 [%rd7], %f3;' (scale.cu:7), block (0,0,0) thread (8,0,0)")
        .contains("no file was written");
    assertThat(folder.resolve("z.bin")).doesNotExist();
  }

  @Test
  void a_kernel_that_never_ends_is_stopped_and_says_what_it_waits_for() {
    assertThat(
            session.type(
                "kernel",
                "run",
                ptx,
                "--entry",
                "forever",
                "--arg",
                "zero:4",
                "--timeout",
                "100ms"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.err())
        .contains("it did not end within 100 ms; its threads are:")
        .contains("ld.volatile.global.u32 %r1, [%rd1];' (scale.cu:11)");
  }

  @Test
  void ctrl_c_stops_it() {
    session.interruption.request();
    assertThat(session.type("kernel", "run", ptx, "--entry", "forever", "--arg", "zero:4"))
        .isEqualTo(ExitCode.INTERRUPTED);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "kernel;DB-U003  say what to do with the kernel",
        "kernel runn;DB-U001  unknown command 'kernel runn'  - did you mean 'run'?",
        "kernel run;DB-U003  missing FILE",
        "kernel run nowhere.ptx;nowhere.ptx  DB-K001  there is no such file",
        "kernel run @DIR/scael.ptx;@DIR/scael.ptx  DB-K001  there is no such file  - did you mean"
            + " 'scale.ptx'?",
        "kernel run @DIR/x.bin;@DIR/x.bin  DB-K001  this is not PTX: it is not text",
        "kernel run @DIR;@DIR  DB-K001  this is a folder",
        "kernel run @PTX;@PTX  DB-K003  it has 2 entries",
        "kernel run @PTX --entry scal;@PTX  DB-K003  there is no entry 'scal'  - did you mean"
            + " 'scale'?",
        "kernel run @PTX --entry forever;DB-K005  entry forever takes 1 parameter, 0 are given",
        "kernel run @PTX --entry forever --arg u32:1;--arg u32:1  DB-K006  it has 4 bytes, and"
            + " parameter 1, .u64 forever_param_0, has 8",
        "kernel run @PTX --entry forever --arg int:x;--arg int:x  DB-K004  'int' is no kind of"
            + " argument  - did you mean 'in'?",
        "kernel run @PTX --entry forever --arg in:@DIR/no.bin;--arg in:@DIR/no.bin  DB-K001",
        "kernel run @PTX --entry forever --arg u8:256;--arg u8:256  DB-K004  256 does not fit 8"
            + " bits",
        "kernel run @PTX --entry forever --arg s8:-129;--arg s8:-129  DB-K004  -129 does not fit 8"
            + " bits",
        "kernel run @PTX --entry forever --arg u32:five;--arg u32:five  DB-K004  'five' is no"
            + " number",
        "kernel run @PTX --entry forever --arg out:f;--arg out:f  DB-K004  an output needs its"
            + " size",
        "kernel run @PTX --entry forever --arg zero:4X;--arg zero:4X  DB-K004  '4X' is no number of"
            + " bytes",
        "kernel run @PTX --entry forever --arg zero:0;--arg zero:0  DB-K004  a buffer of no bytes",
        "kernel run @PTX --entry forever --arg zero:8 --block 2000;--block  DB-U003  2,000 threads"
            + " a block",
        "kernel run @PTX --entry forever --arg zero:8 --grid 0;--grid  DB-U003  '0' is no size",
        "kernel run @PTX --entry forever --arg zero:8 --timeout 5;--timeout  DB-U025  '5' is no"
            + " time",
        "kernel run @PTX --entry forever --arg zero:8 --trace=a;--trace=a  DB-K015  'a' names no"
            + " threads",
        "kernel run @PTX --entry forever --arg zero:8 --dump 2:u8;--dump 2:u8  DB-K016  there are"
            + " only 1 arguments",
        "kernel run @PTX --entry forever --arg zero:8 --dump u33;--dump u33  DB-K016  no type 'u33'"
            + "  - did you mean",
        "kernel new My-Put;DB-K008  'My-Put' cannot be the name of a kernel",
        "kernel new put_latency;DB-K008  'put_latency' is one of Doorbell's own kernels",
        "kernel new x --template rong;--template  DB-U004  there is no template 'rong'  - did you"
            + " mean 'ring'?",
        "kernel new x --dir @DIR;@DIR  DB-K009  this exists already",
        "kernel build @DIR/no;@DIR/no  DB-K001  there is no such file or folder",
        "kernel build @PTX --isa 8;--isa  DB-U003  '8' is no PTX ISA",
        "list kernels --kernels @DIR/no;--kernels @DIR/no  DB-U003  there is no such folder",
      })
  void a_command_line_that_makes_no_sense_is_exit_2(String line, String problem) {
    String typed = line.replace("@PTX", ptx).replace("@DIR", folder.toString());
    assertThat(session.type(typed.split(" ", -1))).as(typed).isEqualTo(ExitCode.USAGE);
    assertThat(session.err())
        .startsWith(problem.replace("@PTX", ptx).replace("@DIR", folder.toString()))
        .doesNotContain("\tat ");
  }

  @Test
  void check_says_what_a_file_needs() {
    assertThat(session.type("kernel", "check", ptx)).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("PTX ISA 8.2   target sm_75")
        .contains("entry   scale(.u64 scale_param_0, .u64 scale_param_1, .f32 scale_param_2,")
        .contains("19 instructions, 16 registers in 8 slots, 24 B of parameters")
        .contains("note    " + ptx + ":")
        .contains("this loop polls memory and reads no clock: it has no deadline")
        .contains("(scale.cu:11)")
        .endsWith(ptx + "  ok\n");
  }

  @Test
  void check_tells_of_registers_that_nothing_has_written() throws IOException {
    Path bad = folder.resolve("bad.ptx");
    Files.writeString(
        bad,
        """
        .version 8.2
        .target sm_75
        .address_size 64
        .visible .entry bad(.param .u64 out)
        {
          .reg .pred %p<2>;
          .reg .b32 %r<5>;
          .reg .b64 %rd<2>;
          ld.param.u64 %rd1, [out];
          mov.u32 %r1, %tid.x;
          setp.eq.u32 %p1, %r1, 0;
          @%p1 bra over;
          add.u32 %r2, %r1, %r4;
        over:
          st.global.u32 [%rd1], %r2;
          ret;
        }
        """);
    assertThat(session.type("kernel", "check", bad.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains(
            "note    %s:13  nothing writes %%r4 before this reads it: what it holds is not defined: add.u32 %%r2, %%r1, %%r4;"
                .formatted(bad))
        .doesNotContain(":15  ")
        .endsWith(bad + "  ok\n");
  }

  @Test
  void check_tells_everything_that_is_not_supported_at_once() throws IOException {
    Path bad = folder.resolve("bad.ptx");
    Files.writeString(
        bad,
        Files.readString(Path.of(ptx))
            .replace("mul.f32", "frobnicate.f32")
            .replace("ld.volatile.global.u32", "ld.volatile.global.u33"));
    assertThat(session.type("kernel", "check", bad.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.out())
        .containsPattern("bad\\.ptx:\\d+  DB-K002  .*frobnicate\\.f32 .*\\(scale\\.cu:7\\)")
        .containsPattern("bad\\.ptx:\\d+  DB-K002  .*u33")
        .contains("2 lines are not supported; nothing of the file can be loaded");
    assertThat(session.type("kernel", "check", bad.toString(), "--json"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("\"unsupported\" : [ {").contains("\"scale.cu:7\"");
    assertThat(
            session.type("kernel", "run", bad.toString(), "--entry", "forever", "--arg", "zero:4"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-K002").contains("frobnicate");
  }

  @Test
  void build_says_the_command_line_and_needs_nothing_for_it() {
    assertThat(session.type("kernel", "build", folder.toString(), "--dry-run"))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .startsWith("nvcc -ptx -O3 -std=c++17 -arch=compute_75 -lineinfo -I")
        .contains("scale.cu -o ")
        .endsWith("scale.ptx\n");
  }
}
