package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.mlx5.DecodedWqe.Atomic;
import dev.doorbell.core.mlx5.DecodedWqe.Data;
import dev.doorbell.core.mlx5.DecodedWqe.Inline;
import dev.doorbell.core.mlx5.DecodedWqe.Remote;
import dev.doorbell.core.mlx5.DecodedWqe.Segment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** WQEs that unmodified libmlx5 wrote, and CQEs that it understood. */
class Libmlx5VectorsTest {
  private static final int REQUESTER_QPN = 0x8006;
  private static final int RESPONDER_QPN = 0x8007;
  private static final int KEY = 0x1100;
  private static final Pattern COMPLETION =
      Pattern.compile(
          "ibv_poll_cq: wr_id 0x\\p{XDigit}+ status success opcode (\\d+) bytes (\\d+)"
              + " qp 0x(\\p{XDigit}+) flags 0x(\\p{XDigit}+) imm 0x(\\p{XDigit}+)");
  private static final int IBV_WC_RECV = 128;
  private static final int IBV_WC_WITH_IMM = 2;

  /** A CQE and what {@code ibv_poll_cq} made of it. */
  record Completion(String hex, int opcode, int bytes, int qpn, int flags, int immediate) {}

  record Post(String name, String wqe, List<Completion> completions) {
    DecodedWqe meaning() {
      return Objects.requireNonNull(MEANINGS.get(name), name);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final List<String> LINES = Fixtures.lines("libmlx5-cqe.txt");

  static Stream<Post> posts() {
    List<Post> posts = new ArrayList<>();
    String name = "";
    StringBuilder wqe = new StringBuilder();
    StringBuilder cqe = new StringBuilder();
    List<Completion> completions = new ArrayList<>();
    for (String line : LINES) {
      if (line.startsWith("## ")) {
        if (!name.isEmpty()) {
          posts.add(new Post(name, wqe.toString(), List.copyOf(completions)));
        }
        name = line.substring(3);
        wqe.setLength(0);
        completions.clear();
      } else if (line.startsWith("wqe+")) {
        wqe.append(afterColon(line));
      } else if (line.startsWith("cqe+")) {
        cqe.append(afterColon(line));
      } else if (line.startsWith("ibv_poll_cq")) {
        completions.add(completion(cqe.toString(), line));
        cqe.setLength(0);
      }
    }
    posts.add(new Post(name, wqe.toString(), List.copyOf(completions)));
    return posts.stream();
  }

  static Stream<Completion> completions() {
    return posts().flatMap(post -> post.completions.stream());
  }

  @Test
  void the_file_holds_all_posts_and_completions() {
    assertThat(posts().map(Post::name)).containsExactlyElementsOf(MEANINGS.keySet());
    assertThat(completions()).hasSize(12);
  }

  @ParameterizedTest
  @MethodSource("posts")
  void decoding_a_wqe_gives_every_field(Post post) {
    try (NativeBytes wqe = NativeBytes.ofHex(post.wqe)) {
      assertThat(DecodedWqe.read(wqe.address())).isEqualTo(post.meaning());
    }
  }

  @ParameterizedTest
  @MethodSource("posts")
  void encoding_a_wqe_gives_the_same_bytes(Post post) {
    DecodedWqe meaning = post.meaning();
    try (NativeBytes wqe = new NativeBytes((long) meaning.ds() * SendQueue.UNIT)) {
      meaning.write(wqe.address());
      assertThat(wqe.hex()).isEqualTo(post.wqe);
    }
  }

  @ParameterizedTest
  @MethodSource("completions")
  void decoding_a_cqe_gives_what_libmlx5_read(Completion completion) {
    try (NativeBytes cqe = NativeBytes.ofHex(completion.hex)) {
      long at = cqe.address();
      assertThat(Cqe.isOwnedBySoftware(at, 0, 128)).isTrue();
      assertThat(Cqe.isOwnedBySoftware(at, 128, 128)).isFalse();
      assertThat(Cqe.qpn(at)).isEqualTo(completion.qpn);
      assertThat(Cqe.isError(Cqe.opcode(at))).isFalse();
      assertThat(Cqe.format(at)).isZero();
      assertThat(Cqe.isSolicited(at)).isFalse();
      assertThat(Cqe.timestamp(at)).isZero();
      if (completion.opcode >= IBV_WC_RECV) {
        assertThat(Cqe.opcode(at)).isBetween(Cqe.RESPONDER_WRITE_IMM, Cqe.RESPONDER_SEND_IMM);
        assertThat(Cqe.byteCount(at)).isEqualTo(completion.bytes);
        assertThat(Cqe.immediate(at))
            .isEqualTo((completion.flags & IBV_WC_WITH_IMM) != 0 ? completion.immediate : 0);
        assertThat(Cqe.userIndex(at)).isEqualTo(1);
        assertThat(Cqe.wqeOpcode(at)).isZero();
      } else {
        assertThat(Cqe.opcode(at)).isEqualTo(Cqe.REQUESTER);
        assertThat(workCompletionOpcode(Cqe.wqeOpcode(at))).isEqualTo(completion.opcode);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("posts")
  void a_requesters_cqe_answers_its_wqe(Post post) {
    for (Completion completion : post.completions) {
      if (completion.qpn != REQUESTER_QPN) {
        continue;
      }
      try (NativeBytes wqe = NativeBytes.ofHex(post.wqe);
          NativeBytes cqe = NativeBytes.ofHex(completion.hex)) {
        assertThat(Cqe.wqeCounter(cqe.address())).isEqualTo(ControlSegment.wqeIndex(wqe.address()));
        assertThat(Cqe.wqeOpcode(cqe.address())).isEqualTo(ControlSegment.opcode(wqe.address()));
        assertThat(Cqe.byteCount(cqe.address())).isEqualTo(payloadBytes(post.meaning()));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("completions")
  void encoding_a_cqe_gives_the_same_bytes(Completion completion) {
    try (NativeBytes given = NativeBytes.ofHex(completion.hex);
        NativeBytes made = new NativeBytes(Cqe.BYTES)) {
      long from = given.address();
      long to = made.address();
      Cqe.fillInitial(to, 1);
      if (completion.qpn == REQUESTER_QPN) {
        Cqe.writeRequester(
            to,
            Cqe.wqeOpcode(from),
            completion.qpn,
            Cqe.wqeCounter(from),
            Cqe.byteCount(from),
            0,
            0);
      } else {
        int immediate = (completion.flags & IBV_WC_WITH_IMM) != 0 ? completion.immediate : 0;
        Cqe.writeResponder(
            to,
            Cqe.opcode(from),
            RESPONDER_QPN,
            1,
            Cqe.wqeCounter(from),
            completion.bytes,
            immediate,
            false,
            0,
            0);
      }
      assertThat(made.hex()).isEqualTo(completion.hex);
    }
  }

  @Test
  void a_receive_wqe_is_a_data_segment() {
    String image = afterColon(line("peer's receive WQE 0+00"));
    try (NativeBytes given = NativeBytes.ofHex(image);
        NativeBytes made = new NativeBytes(ReceiveSegment.BYTES)) {
      assertThat(ReceiveSegment.byteCount(given.address())).isEqualTo(0x1000);
      assertThat(ReceiveSegment.lkey(given.address())).isEqualTo(KEY);
      assertThat(ReceiveSegment.address(given.address())).isEqualTo(0x1000_0004_0000L);
      assertThat(ReceiveSegment.isTerminator(given.address())).isFalse();
      ReceiveSegment.write(made.address(), 0x1000, KEY, 0x1000_0004_0000L);
      assertThat(made.hex()).isEqualTo(image);
    }
  }

  @Test
  void posting_four_receives_counts_in_the_first_word_of_the_record() {
    String line = line("peer's doorbell record after 4 ibv_post_recv");
    Matcher words = Pattern.compile("recv (\\p{XDigit}{8}) send (\\p{XDigit}{8})").matcher(line);
    assertThat(words.find()).isTrue();
    try (NativeBytes record = new NativeBytes(DoorbellRecord.BYTES)) {
      DoorbellRecord.putReceiveIndex(record.address(), 4);
      assertThat(record.hex()).isEqualTo(words.group(1) + words.group(2));
      assertThat(DoorbellRecord.receiveIndex(record.address())).isEqualTo(4);
      assertThat(DoorbellRecord.sendIndex(record.address())).isZero();
    }
  }

  private static final Map<String, DecodedWqe> MEANINGS = meanings();

  private static Map<String, DecodedWqe> meanings() {
    Data page = new Data(256, KEY, 0x1000_0000_0000L);
    Data cell = new Data(8, KEY, 0x1000_0000_0800L);
    Remote atomic = new Remote(0x1000_0002_0000L, KEY);
    Map<String, DecodedWqe> all = new LinkedHashMap<>();
    put(
        all,
        "RDMA_WRITE 256 bytes, signaled",
        new int[] {0, Opcode.RDMA_WRITE, 0x08, 0},
        new Remote(0x1000_0001_0000L, KEY),
        page);
    put(
        all,
        "RDMA_WRITE two segments 100+28, unsignaled",
        new int[] {1, Opcode.RDMA_WRITE, 0x00, 0},
        new Remote(0x1000_0001_1000L, KEY),
        new Data(100, KEY, 0x1000_0000_0000L),
        new Data(28, KEY, 0x1000_0000_0400L));
    put(
        all,
        "RDMA_WRITE_WITH_IMM 256 bytes, imm 0xcafebabe, solicited",
        new int[] {2, Opcode.RDMA_WRITE_IMM, 0x0a, 0xcafebabe},
        new Remote(0x1000_0001_2000L, KEY),
        page);
    put(
        all,
        "RDMA_READ 256 bytes, signaled, fence",
        new int[] {3, Opcode.RDMA_READ, 0x88, 0},
        new Remote(0x1000_0001_0000L, KEY),
        page);
    put(
        all,
        "ATOMIC_FETCH_AND_ADD 5",
        new int[] {4, Opcode.ATOMIC_FA, 0x08, 0},
        atomic,
        new Atomic(5, 0),
        cell);
    put(
        all,
        "ATOMIC_CMP_AND_SWP 5 -> 0x1122334455667788",
        new int[] {5, Opcode.ATOMIC_CS, 0x08, 0},
        atomic,
        new Atomic(0x1122_3344_5566_7788L, 5),
        cell);
    put(
        all,
        "RDMA_WRITE inline 12 bytes",
        new int[] {6, Opcode.RDMA_WRITE, 0x08, 0},
        new Remote(0x1000_0001_3000L, KEY),
        sevens(12));
    put(
        all,
        "RDMA_WRITE inline 64 bytes (two units)",
        new int[] {7, Opcode.RDMA_WRITE, 0x08, 0},
        new Remote(0x1000_0001_4000L, KEY),
        sevens(64));
    put(all, "SEND 256 bytes", new int[] {9, Opcode.SEND, 0x08, 0}, page);
    put(all, "SEND_WITH_IMM 256 bytes, imm 1", new int[] {10, Opcode.SEND_IMM, 0x08, 1}, page);
    return all;
  }

  /** Control words: index, opcode, fm_ce_se, immediate. */
  private static void put(
      Map<String, DecodedWqe> all, String name, int[] control, Segment... segments) {
    all.put(
        name,
        new DecodedWqe(
            0, control[0], control[1], REQUESTER_QPN, control[2], control[3], List.of(segments)));
  }

  /** 01 08 0f 16 ..., the pattern that the poster filled its buffer with. */
  private static Inline sevens(int bytes) {
    StringBuilder hex = new StringBuilder();
    for (int i = 0; i < bytes; i++) {
      hex.append("%02x".formatted((1 + 7 * i) & 0xff));
    }
    return new Inline(hex.toString());
  }

  private static int payloadBytes(DecodedWqe wqe) {
    int bytes = 0;
    for (Segment segment : wqe.segments()) {
      if (segment instanceof Data data) {
        bytes += data.byteCount();
      } else if (segment instanceof Inline inline) {
        bytes += inline.byteCount();
      }
    }
    return bytes;
  }

  /** {@code enum ibv_wc_opcode} of infiniband/verbs.h. */
  private static int workCompletionOpcode(int wqeOpcode) {
    return switch (wqeOpcode) {
      case Opcode.SEND, Opcode.SEND_IMM -> 0;
      case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM -> 1;
      case Opcode.RDMA_READ -> 2;
      case Opcode.ATOMIC_CS -> 3;
      case Opcode.ATOMIC_FA -> 4;
      default -> -1;
    };
  }

  private static Completion completion(String cqe, String line) {
    Matcher fields = COMPLETION.matcher(line);
    if (!fields.matches()) {
      throw new IllegalStateException("not a completion: " + line);
    }
    return new Completion(
        cqe,
        Integer.parseInt(fields.group(1)),
        Integer.parseInt(fields.group(2)),
        Integer.parseInt(fields.group(3), 16),
        Integer.parseInt(fields.group(4), 16),
        Integer.parseUnsignedInt(fields.group(5), 16));
  }

  private static String line(String start) {
    return LINES.stream().filter(line -> line.startsWith(start)).findFirst().orElseThrow();
  }

  private static String afterColon(String line) {
    return line.substring(line.indexOf(':') + 1).replace(" ", "");
  }
}
