package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.catalogue.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A use of the machine, and whether it is possible.
 *
 * @param obstacle the code that prevents it, or that may; empty for {@link Answer#YES}
 */
public record Ability(String name, Answer answer, Optional<Code> obstacle) {
  /** The answer whether the machine can be used this way. */
  public enum Answer {
    YES,
    PERHAPS,
    NO
  }

  private static final Code NO_OVERRIDE = Code.of("DB-NVREG-02");
  private static final Code PEERMEM_NOT_REGISTERED = Code.of("DB-PEERMEM-02");

  private static final Set<String> GPU = Set.of("DRIVER", "BAR");
  private static final Set<String> DIRECT =
      Set.of("DRIVER", "BAR", "RDMA", "PEERMEM", "MEMLOCK", "PORT", "GID");
  private static final Set<String> RING =
      Set.of("DRIVER", "BAR", "RDMA", "PEERMEM", "MEMLOCK", "PORT", "GID", "NVREG");

  /** Judges all uses, each of which requires the ones before it. */
  static List<Ability> of(List<CheckResult> findings) {
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

  private static Ability judge(String name, Set<String> areas, List<CheckResult> findings) {
    List<Code> codes =
        findings.stream()
            .map(CheckResult::code)
            .filter(code -> areas.contains(code.area()))
            .toList();
    Optional<Code> obstacle = codes.stream().filter(Ability::isObstacle).findFirst();
    if (obstacle.isPresent()) {
      return new Ability(name, Answer.NO, obstacle);
    }
    return codes.contains(NO_OVERRIDE)
        ? new Ability(name, Answer.PERHAPS, Optional.of(NO_OVERRIDE))
        : new Ability(name, Answer.YES, Optional.empty());
  }

  /**
   * Returns true for a code that prevents the use. A peermem that does not register is no obstacle.
   */
  private static boolean isObstacle(Code code) {
    return (code.verdict() == CheckVerdict.FAIL || code.verdict() == CheckVerdict.ABSENT)
        && !code.equals(PEERMEM_NOT_REGISTERED);
  }
}
