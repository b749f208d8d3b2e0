package dev.doorbell.experiments.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a machine can be used for, and what stands in the way.
 *
 * @param obstacle the code that says why not, or why perhaps not; empty for a yes
 */
public record Ability(String name, Answer answer, Optional<Code> obstacle) {
  /** Whether it can. */
  public enum Answer {
    YES,
    PERHAPS,
    NO
  }

  private static final Set<String> GPU = Set.of("DRIVER", "BAR");
  private static final Set<String> DIRECT =
      Set.of("DRIVER", "BAR", "RDMA", "PEERMEM", "MEMLOCK", "PORT", "GID");
  private static final Set<String> RING =
      Set.of("DRIVER", "BAR", "RDMA", "PEERMEM", "MEMLOCK", "PORT", "GID", "NVREG");

  /** In the order in which one rests on the other. */
  static List<Ability> of(List<Finding> findings) {
    List<Ability> abilities = new ArrayList<>();
    abilities.add(
        new Ability(
            "PTX VM and software HCA: demo, run, explore, kernel, hca",
            Answer.YES,
            Optional.empty()));
    abilities.add(judge("kernels on a GPU", GPU, findings));
    abilities.add(judge("an HCA that reads and writes GPU memory", DIRECT, findings));
    abilities.add(judge("a GPU that rings the HCA's doorbell", RING, findings));
    return abilities;
  }

  private static Ability judge(String name, Set<String> areas, List<Finding> findings) {
    Optional<Code> against = against(areas, findings);
    Optional<Code> doubt =
        findings.stream()
            .map(Finding::code)
            .filter(code -> areas.contains(code.area()))
            .filter(code -> code.equals(RegistryKeyCheck.NO_OVERRIDE))
            .findFirst();
    return against.isPresent()
        ? new Ability(name, Answer.NO, against)
        : new Ability(name, doubt.isPresent() ? Answer.PERHAPS : Answer.YES, doubt);
  }

  /** A peermem that does not register stands in nobody's way where dma-buf works. */
  private static Optional<Code> against(Set<String> areas, List<Finding> findings) {
    return findings.stream()
        .map(Finding::code)
        .filter(code -> code.verdict() == Verdict.FAIL || code.verdict() == Verdict.ABSENT)
        .filter(code -> areas.contains(code.area()))
        .filter(code -> !code.equals(PeerMemoryCheck.NOT_REGISTERED))
        .findFirst();
  }
}
