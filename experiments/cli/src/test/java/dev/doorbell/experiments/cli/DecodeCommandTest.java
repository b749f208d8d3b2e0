package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DecodeCommandTest {
  /** An RDMA WRITE of 256 bytes that libmlx5 posted. */
  private static final String WQE =
      """
      wqe+00: 00000008 00800603 00000008 00000000
      wqe+10: 00001000 00010000 00001100 00000000
      wqe+20: 00000100 00001100 00001000 00000000
      """;

  private static final Path CAPTURES =
      Path.of("..", "host-runtime", "core", "src", "test", "resources", "dev", "doorbell", "core")
          .resolve("roce");

  @TempDir Path folder;
  private final Session session = new Session();

  private String file(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes).toString();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
  }

  @Test
  void a_wqe_is_the_same_in_digits_and_in_bytes() throws IOException {
    String digits = file("wqe.txt", ascii(WQE));
    assertThat(session.type("decode", "wqe", digits)).isEqualTo(ExitCode.OK);
    String fromDigits = session.out();
    assertThat(fromDigits)
        .startsWith("WQE[0] RDMA_WRITE ds=3")
        .contains("raddr=0x100000010000 rkey=0x00001100", "data=256@0x100000000000");
    byte[] bytes = HexFormat.of().parseHex(WQE.replaceAll("wqe.*?:|\\s", ""));
    assertThat(session.type("decode", "wqe", file("wqe.bin", bytes))).isEqualTo(ExitCode.OK);
    assertThat(session.out()).isEqualTo(fromDigits);
  }

  @Test
  void a_wqe_is_the_same_in_the_dumps_of_other_tools() throws IOException {
    String plain = file("wqe.txt", ascii(WQE));
    assertThat(session.type("decode", "wqe", plain)).isEqualTo(ExitCode.OK);
    String expected = session.out();
    for (String dump :
        List.of(
            """
            00000000: 0000 0008 0080 0603 0000 0008 0000 0000  ................
            00000010: 0000 1000 0001 0000 0000 1100 0000 0000  ................
            00000020: 0000 0100 0000 1100 0000 1000 0000 0000  .12 ab  ..0123.|
            """,
            """
            00000000  00 00 00 08 00 80 06 03  00 00 00 08 00 00 00 00  |................|
            00000010  00 00 10 00 00 01 00 00  00 00 11 00 00 00 00 00  |................|
            00000020  00 00 01 00 00 00 11 00  00 00 10 00 00 00 00 00  |........ |  ....|
            00000030
            """,
            "0x00000008, 0x00800603, 0x00000008, 0x00000000,\n"
                + "0x00001000  00010000 00001100 0\t0000000 00000100 00001100 00001000 00000000")) {
      assertThat(session.type("decode", "wqe", file("dump", ascii(dump)))).isEqualTo(ExitCode.OK);
      assertThat(session.out()).isEqualTo(expected);
    }
    assertThat(session.type("decode", "wqe", file("note", ascii("00000008\nsee the log\n"))))
        .isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U021").contains("'see the log'");
  }

  @Test
  void a_capture_that_does_not_fit_into_memory_is_to_be_cut_up() throws IOException {
    Path file = folder.resolve("large.pcapng");
    try (java.io.RandomAccessFile large = new java.io.RandomAccessFile(file.toFile(), "rw")) {
      large.setLength(5L << 30); // of holes
    }
    assertThat(session.type("decode", "packet", file.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U027", "5,120 MiB", "editcap -c");
  }

  @Test
  void a_malformed_wqe_ends_with_1() throws IOException {
    String digits = file("wqe.txt", ascii(WQE.replace("00800603", "00800601")));
    assertThat(session.type("decode", "wqe", "--quiet", digits)).isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("MALFORMED");
  }

  @Test
  void cqes_records_and_doorbells_are_explained() throws IOException {
    String cqe =
        "00".repeat(32) + "00000000 00000000 00000000 00000100 00000000 00000000 08008006 00000000";
    assertThat(session.type("decode", "cqe", file("cqe", ascii(cqe)))).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .startsWith("CQE REQ RDMA_WRITE qpn=0x008006")
        .contains("byte_cnt=256");
    assertThat(session.type("decode", "dbr", file("dbr", ascii("00000007 00000001"))))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("doorbell record receive=7 send=1");
    assertThat(session.type("decode", "uar", file("uar", ascii("00000108 00800603"))))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("doorbell qpn=0x008006 index=1");
  }

  @Test
  void a_capture_of_linux_has_nothing_wrong() {
    assertThat(session.type("decode", "packet", CAPTURES.resolve("nak_seq.pcapng").toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out().lines())
        .hasSize(10)
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains("10.77.0.2 > 10.77.0.1", "RC ACKNOWLEDGE", "packet sequence error"))
        .last()
        .isEqualTo("9 packets of 1 connections, 0 other frames: nothing wrong");
  }

  @Test
  void a_flipped_bit_is_found_and_ends_with_1() throws IOException {
    byte[] bytes = Files.readAllBytes(CAPTURES.resolve("write.pcapng"));
    int payload = HexFormat.of().formatHex(bytes).indexOf("000102030405060708") / 2;
    bytes[payload + 100] ^= 1;
    assertThat(session.type("decode", "packet", file("bad.pcapng", bytes)))
        .isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("WRONG  ICRC is").endsWith("1 problems\n");
  }

  @Test
  void json_has_a_frame_each_and_what_is_wrong_with_it() {
    session.type("decode", "packet", "--json", CAPTURES.resolve("interop.pcapng").toString());
    JsonNode json = JsonMapper.builder().build().readTree(session.out());
    assertThat(json.get("packets").asInt()).isEqualTo(30);
    assertThat(json.get("other_frames").asInt()).isEqualTo(1);
    assertThat(json.get("problems").asInt()).isEqualTo(1);
    assertThat(json.get("frames").get(15).get("problems").get(0).asString()).contains("missing");
  }

  @Test
  void one_packet_in_digits_is_explained_bit_by_bit() throws IOException {
    byte[] capture = Files.readAllBytes(CAPTURES.resolve("write_zero.pcapng"));
    String hex = HexFormat.of().formatHex(capture);
    String packet = hex.substring(hex.indexOf("020000000002020000000001"));
    int bytes = 14 + 20 + 8 + 12 + 16 + 4;
    assertThat(session.type("decode", "packet", file("one", ascii(packet.substring(0, 2 * bytes)))))
        .isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("RC WRITE_ONLY qp=0x00008b", "BTH opcode", "R_Key", "ICRC", "right");
  }

  @Test
  void mistakes_are_usage_errors_that_say_what_to_do() throws IOException {
    assertThat(session.type("decode", "wqqe", "x")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U022").contains("wqe");
    assertThat(session.type("decode", "wqe", "nowhere")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U020");
    assertThat(session.type("decode", "cqe", file("short", ascii("0011"))))
        .isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U025").contains("64 bytes");
    assertThat(session.type("decode", "wqe", file("empty", new byte[0]))).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U021");
    byte[] damaged = Files.readAllBytes(CAPTURES.resolve("write.pcapng"));
    damaged[4] ^= 2;
    assertThat(session.type("decode", "packet", file("damaged.pcapng", damaged)))
        .isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U024").contains("at byte");
    assertThat(List.of(session.out())).containsExactly("");
  }
}
