package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.verbs.devx.AddressResolution;
import dev.doorbell.verbs.devx.Mlx5Objects;
import dev.doorbell.verbs.devx.OnChip;
import dev.doorbell.verbs.library.DeviceOps;
import dev.doorbell.verbs.library.VerbsProbe;
import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sizes, offsets and constants against the headers of this machine: a C file of static asserts is
 * made from the bindings and from what is written by hand, and gcc judges it.
 */
class LayoutTest {
  private static final String GENERATED = "dev.doorbell.verbs.generated.";

  @TempDir private Path folder;

  @Test
  void every_size_offset_and_constant_is_that_of_the_headers() throws Exception {
    List<String> asserts = new ArrayList<>();
    generated(asserts);
    assertThat(asserts.size()).as("asserts of the generated bindings").isGreaterThan(200);
    byHand(asserts);
    assertThat(compile(asserts)).isEmpty();
  }

  @Test
  void a_wrong_offset_is_found() throws Exception {
    assertThat(compile(List.of(offset("struct ibv_send_wr", "opcode", 29))))
        .contains("static assertion failed");
  }

  private static void generated(List<String> asserts) throws Exception {
    for (String library : List.of("verbs", "mlx5dv")) {
      for (String name : classes(library)) {
        Class<?> type = Class.forName(GENERATED + library + "." + name, false, loader());
        if (name.startsWith("ibv_") || name.startsWith("mlx5dv_")) {
          GroupLayout layout = (GroupLayout) type.getMethod("layout").invoke(null);
          String c = (name.equals("ibv_gid") ? "union " : "struct ") + name;
          asserts.add(size(c, layout.byteSize()));
          members(asserts, c, layout, 0);
        } else {
          constants(asserts, type);
        }
      }
    }
  }

  private static ClassLoader loader() {
    return Objects.requireNonNull(LayoutTest.class.getClassLoader());
  }

  private static List<String> classes(String library) throws IOException, URISyntaxException {
    Path built =
        Path.of(VerbsProbe.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String folder = GENERATED.replace('.', '/') + library;
    if (Files.isDirectory(built)) {
      return classes(built.resolve(folder));
    }
    try (FileSystem jar = FileSystems.newFileSystem(built)) {
      return classes(jar.getPath(folder));
    }
  }

  private static List<String> classes(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".class") && !file.contains("$"))
          .map(file -> file.substring(0, file.length() - ".class".length()))
          .sorted()
          .toList();
    }
  }

  /** Members of anonymous records are named as if they were the outer record's. */
  private static void members(List<String> asserts, String type, GroupLayout layout, long base) {
    long offset = base;
    boolean union = layout instanceof java.lang.foreign.UnionLayout;
    for (MemoryLayout member : layout.memberLayouts()) {
      String name = member.name().orElse("");
      if (!(member instanceof PaddingLayout)) {
        if (name.startsWith("$anon") || name.isEmpty()) {
          members(asserts, type, (GroupLayout) member, offset);
        } else {
          asserts.add(offset(type, name, offset));
        }
      }
      offset += union ? 0 : member.byteSize();
    }
  }

  private static void constants(List<String> asserts, Class<?> header)
      throws ReflectiveOperationException {
    for (Method method : header.getDeclaredMethods()) {
      String name = method.getName();
      boolean constant =
          Modifier.isStatic(method.getModifiers())
              && Modifier.isPublic(method.getModifiers())
              && method.getParameterCount() == 0
              && method.getReturnType() == int.class
              && name.equals(name.toUpperCase(Locale.ROOT));
      if (constant) {
        asserts.add(equal("(int) " + name, ((Number) method.invoke(null)).longValue()));
      }
    }
  }

  private static void byHand(List<String> asserts) {
    String context = "struct ibv_context";
    asserts.add(size(context, DeviceOps.CONTEXT_BYTES));
    asserts.add(offset(context, "ops.poll_cq", LibMlx5QueuePair.POLL_CQ_OFFSET));
    asserts.add(offset(context, "ops.post_send", LibMlx5QueuePair.POST_SEND_OFFSET));
    asserts.add(offset(context, "ops.post_recv", LibMlx5QueuePair.POST_RECV_OFFSET));
    asserts.add(offset(context, "abi_compat", DeviceOps.ABI_COMPAT_OFFSET));
    String extended = "struct verbs_context";
    asserts.add(size(extended, DeviceOps.VERBS_CONTEXT_BYTES));
    asserts.add(offset(extended, "query_port", DeviceOps.QUERY_PORT_OFFSET));
    asserts.add(offset(extended, "reg_dm_mr", DeviceOps.REG_DM_MR_OFFSET));
    asserts.add(offset(extended, "alloc_dm", DeviceOps.ALLOC_DM_OFFSET));
    asserts.add(offset(extended, "free_dm", DeviceOps.FREE_DM_OFFSET));
    asserts.add(offset(extended, "query_device_ex", DeviceOps.QUERY_DEVICE_EX_OFFSET));
    asserts.add(offset(extended, "sz", DeviceOps.SIZE_OFFSET));
    asserts.add(offset(extended, "context", DeviceOps.CONTEXT_OFFSET));
    asserts.add(offset(context, "ops.req_notify_cq", LibMlx5QueuePair.REQ_NOTIFY_OFFSET));
    asserts.add(offset("struct ibv_qp", "qp_num", VerbsConnection.NUMBER_OFFSET));
    asserts.add(size("struct ibv_device_attr_ex", OnChip.ATTRIBUTES_BYTES));
    asserts.add(offset("struct ibv_device_attr_ex", "max_dm_size", OnChip.MAX_DM_SIZE_OFFSET));
    asserts.add(size("struct mlx5dv_obj", Mlx5Objects.BYTES));
    asserts.add(offset("struct mlx5dv_obj", "pd.in", Mlx5Objects.PD_OFFSET));
    asserts.add(offset("struct mlx5dv_obj", "pd.out", Mlx5Objects.PD_OFFSET + Long.BYTES));
    asserts.add(offset("struct mlx5dv_obj", "ah.in", Mlx5Objects.AH_OFFSET));
    asserts.add(offset("struct mlx5dv_obj", "ah.out", Mlx5Objects.AH_OFFSET + Long.BYTES));
    asserts.add(offset("struct mlx5dv_obj", "dm.in", Mlx5Objects.DM_OFFSET));
    asserts.add(offset("struct mlx5dv_obj", "dm.out", Mlx5Objects.DM_OFFSET + Long.BYTES));
    asserts.add(size("struct mlx5dv_dm", OnChip.MAPPED_BYTES));
    asserts.add(offset("struct mlx5dv_dm", "buf", OnChip.MAPPED_OFFSET));
    asserts.add(size("struct mlx5_wqe_av", AddressResolution.AV_BYTES));
    asserts.add(offset("struct mlx5_wqe_av", "rmac", AddressResolution.AV_MAC_OFFSET));
    sendRequest(asserts);
    completion(asserts);
    queuesOfLibMlx5(asserts);
  }

  private static void queuesOfLibMlx5(List<String> asserts) {
    asserts.add(offset("struct mlx5dv_obj", "qp.in", LibMlx5QueuePair.QP_IN_OFFSET));
    asserts.add(offset("struct mlx5dv_obj", "qp.out", LibMlx5QueuePair.QP_OUT_OFFSET));
    asserts.add(offset("struct mlx5dv_obj", "cq.in", LibMlx5QueuePair.CQ_IN_OFFSET));
    asserts.add(offset("struct mlx5dv_obj", "cq.out", LibMlx5QueuePair.CQ_OUT_OFFSET));
    String qp = "struct mlx5dv_qp";
    asserts.add(equal("sizeof(struct mlx5dv_qp) <= %d".formatted(LibMlx5QueuePair.QP_BYTES), 1));
    asserts.add(offset(qp, "dbrec", LibMlx5QueuePair.QP_RECORD_OFFSET));
    asserts.add(offset(qp, "sq.buf", LibMlx5QueuePair.SEND_RING_OFFSET));
    asserts.add(offset(qp, "sq.wqe_cnt", LibMlx5QueuePair.SEND_BLOCKS_OFFSET));
    asserts.add(offset(qp, "rq.buf", LibMlx5QueuePair.RECEIVE_RING_OFFSET));
    asserts.add(offset(qp, "rq.wqe_cnt", LibMlx5QueuePair.RECEIVE_ENTRIES_OFFSET));
    asserts.add(offset(qp, "rq.stride", LibMlx5QueuePair.RECEIVE_STRIDE_OFFSET));
    asserts.add(offset(qp, "bf.reg", LibMlx5QueuePair.REGISTER_OFFSET));
    asserts.add(offset(qp, "bf.size", LibMlx5QueuePair.REGISTER_BYTES_OFFSET));
    String cq = "struct mlx5dv_cq";
    asserts.add(equal("sizeof(struct mlx5dv_cq) <= %d".formatted(LibMlx5QueuePair.CQ_BYTES), 1));
    asserts.add(offset(cq, "dbrec", LibMlx5QueuePair.CQ_RECORD_OFFSET));
    asserts.add(offset(cq, "cq_uar", LibMlx5QueuePair.CQ_PAGE_OFFSET));
    asserts.add(offset(cq, "cqn", LibMlx5QueuePair.CQ_NUMBER_OFFSET));
  }

  private static void sendRequest(List<String> asserts) {
    String request = "struct ibv_send_wr";
    asserts.add(size(request, SendRequestLayout.BYTES));
    asserts.add(offset(request, "next", SendRequestLayout.NEXT_OFFSET));
    asserts.add(offset(request, "sg_list", SendRequestLayout.SEGMENTS_OFFSET));
    asserts.add(offset(request, "num_sge", SendRequestLayout.SEGMENT_COUNT_OFFSET));
    asserts.add(offset(request, "opcode", SendRequestLayout.OPCODE_OFFSET));
    asserts.add(offset(request, "send_flags", SendRequestLayout.FLAGS_OFFSET));
    asserts.add(offset(request, "imm_data", SendRequestLayout.IMMEDIATE_OFFSET));
    asserts.add(offset(request, "wr.rdma.remote_addr", SendRequestLayout.REMOTE_ADDRESS_OFFSET));
    asserts.add(offset(request, "wr.rdma.rkey", SendRequestLayout.RDMA_KEY_OFFSET));
    asserts.add(offset(request, "wr.atomic.remote_addr", SendRequestLayout.REMOTE_ADDRESS_OFFSET));
    asserts.add(
        offset(request, "wr.atomic.compare_add", SendRequestLayout.ATOMIC_COMPARE_ADD_OFFSET));
    asserts.add(offset(request, "wr.atomic.swap", SendRequestLayout.ATOMIC_SWAP_OFFSET));
    asserts.add(offset(request, "wr.atomic.rkey", SendRequestLayout.ATOMIC_KEY_OFFSET));
    asserts.add(size("struct ibv_recv_wr", SendRequestLayout.RECEIVE_BYTES));
    asserts.add(size("struct ibv_sge", SendRequestLayout.SEGMENT_BYTES));
    asserts.add(offset("struct ibv_sge", "addr", SendRequestLayout.SEGMENT_ADDRESS_OFFSET));
    asserts.add(offset("struct ibv_sge", "length", SendRequestLayout.SEGMENT_LENGTH_OFFSET));
    asserts.add(offset("struct ibv_sge", "lkey", SendRequestLayout.SEGMENT_KEY_OFFSET));
    asserts.add(equal("IBV_WR_RDMA_WRITE", SendRequestLayout.RDMA_WRITE));
    asserts.add(equal("IBV_WR_RDMA_WRITE_WITH_IMM", SendRequestLayout.RDMA_WRITE_WITH_IMM));
    asserts.add(equal("IBV_WR_SEND", SendRequestLayout.SEND));
    asserts.add(equal("IBV_WR_SEND_WITH_IMM", SendRequestLayout.SEND_WITH_IMM));
    asserts.add(equal("IBV_WR_RDMA_READ", SendRequestLayout.RDMA_READ));
    asserts.add(equal("IBV_WR_ATOMIC_CMP_AND_SWP", SendRequestLayout.ATOMIC_CMP_AND_SWP));
    asserts.add(equal("IBV_WR_ATOMIC_FETCH_AND_ADD", SendRequestLayout.ATOMIC_FETCH_AND_ADD));
    asserts.add(equal("IBV_SEND_FENCE", SendRequestLayout.FENCE));
    asserts.add(equal("IBV_SEND_SIGNALED", SendRequestLayout.SIGNALED));
    asserts.add(equal("IBV_SEND_SOLICITED", SendRequestLayout.SOLICITED));
    asserts.add(equal("IBV_SEND_INLINE", SendRequestLayout.INLINE));
  }

  private static void completion(List<String> asserts) {
    String wc = "struct ibv_wc";
    asserts.add(size(wc, WorkCompletionLayout.BYTES));
    asserts.add(offset(wc, "status", WorkCompletionLayout.STATUS_OFFSET));
    asserts.add(equal("IBV_WC_SUCCESS", WorkCompletionLayout.SUCCESS));
  }

  private static String size(String type, long bytes) {
    return equal("sizeof(%s)".formatted(type), bytes);
  }

  private static String offset(String type, String field, long offset) {
    return equal("offsetof(%s, %s)".formatted(type, field), offset);
  }

  private static String equal(String expression, long value) {
    return "_Static_assert(%s == %d, \"%s\");".formatted(expression, value, expression);
  }

  /** Returns the errors of gcc; empty when it agrees. */
  private String compile(List<String> asserts) throws IOException, InterruptedException {
    assumeTrue(
        Files.exists(Path.of("/usr/include/infiniband/mlx5dv.h"))
            && Files.isExecutable(Path.of("/usr/bin/gcc")),
        "gcc or the headers are missing; apt-get install gcc libibverbs-dev");
    Path source = folder.resolve("layouts.c");
    Files.writeString(
        source,
        "#include <stddef.h>\n#include <infiniband/verbs.h>\n#include <infiniband/mlx5dv.h>\n"
            + String.join("\n", asserts)
            + "\n",
        StandardCharsets.UTF_8);
    Process gcc =
        new ProcessBuilder("gcc", "-std=c11", "-fsyntax-only", source.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean agrees = gcc.waitFor() == 0;
    assertThat(agrees || !said.isEmpty()).as("gcc says why").isTrue();
    return agrees ? "" : said;
  }
}
