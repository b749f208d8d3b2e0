package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Host;
import java.util.List;
import java.util.function.Consumer;

/** How much memory this process may lock: every registered byte counts. */
final class LockedMemoryCheck implements Check {
  private static final long KIBIBYTE = 1024;
  private static final long TINY = 16 << 20;
  private static final String THREAD = "https://github.com/NVIDIA/nccl-tests/issues/206";

  static final Code UNLIMITED =
      Code.pass(
          "DB-MEMLOCK-01",
          "memory can be locked without limit",
          "\"Max locked memory\" of /proc/self/limits is unlimited, or the process has CAP_IPC_LOCK.",
          "Registration is bounded by memory alone.");
  static final Code TOO_SMALL =
      Code.fail(
          "DB-MEMLOCK-02",
          "next to no memory can be locked",
          "\"Max locked memory\" of /proc/self/limits is below 16 MiB, and CAP_IPC_LOCK is missing.",
          "ibv_create_cq and ibv_reg_mr fail with ENOMEM (\"Cannot allocate memory\").",
          "docker run --ulimit memlock=-1 --cap-add=IPC_LOCK; on a host: '* - memlock unlimited' in"
              + " /etc/security/limits.d/rdma.conf and a new login; for services LimitMEMLOCK=infinity",
          "https://github.com/openucx/ucx/issues/8229",
          THREAD);
  static final Code LIMITED =
      Code.warn(
          "DB-MEMLOCK-03",
          "locked memory is limited",
          "\"Max locked memory\" of /proc/self/limits is a number, and CAP_IPC_LOCK is missing.",
          "Larger buffers cannot be registered (ENOMEM). GPU memory does not count.",
          "as DB-MEMLOCK-02",
          THREAD);

  @Override
  public List<Code> codes() {
    return List.of(UNLIMITED, TOO_SMALL, LIMITED);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    if (patient.facts().rdmaDevices().isEmpty()) {
      return;
    }
    Host host = patient.facts().host();
    long limit = host.lockedBytes();
    if (limit < 0 || host.mayLockAll()) {
      found.accept(
          new Finding(UNLIMITED, "", limit < 0 ? "unlimited" : "CAP_IPC_LOCK lifts the limit"));
    } else {
      found.accept(
          new Finding(
              limit < TINY ? TOO_SMALL : LIMITED,
              host.container() ? "container" : "",
              "%d KiB".formatted(limit / KIBIBYTE)));
    }
  }
}
