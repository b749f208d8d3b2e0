package dev.doorbell.ptxjit.warp;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.doorbell.ptxjit.warp.CompiledWarp.WarpCode;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.ops.control.ActiveMask;
import dev.doorbell.ptxvm.engine.ops.control.WarpOps;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.VarHandle;

/**
 * Writes warp operations at which all lanes are: no lane waits, and what all have in common needs
 * no exchange. A mask that does not name all of them diverges the warp.
 */
final class ConvergenceEmitter {
  private static final ClassDesc WARP = DriverEmitter.WARP;
  private static final ClassDesc HANDLE = VarHandle.class.describeConstable().orElseThrow();
  private static final long ALL = 0xffffffffL;

  private final DriverEmitter driver;
  private final RegisterAllocation registers;

  ConvergenceEmitter(DriverEmitter driver) {
    this.driver = driver;
    this.registers = driver.registers;
  }

  private CodeBuilder warp() {
    return driver.code().aload(0);
  }

  void write(int index, ConvergenceOp op) {
    gather(index, op);
    if (op.maskSlot() >= 0 && !requireAll(index, op.maskSlot())) {
      return;
    }
    switch (op) {
      case ActiveMask mask -> {
        lanes();
        driver.store(mask.d);
      }
      case WarpOps.WarpBarrier barrier -> {
        MethodTypeDesc nothing = MethodTypeDesc.of(CD_void);
        driver.code().invokestatic(HANDLE, "releaseFence", nothing);
        driver.code().invokestatic(HANDLE, "acquireFence", nothing);
      }
      case WarpOps.Vote vote when knows(index, vote.a) -> vote(index, vote);
      case WarpOps.Match match when registers.isUniform(index, match.a) -> {
        lanes();
        driver.store(match.d);
        driver.code().lconst_1();
        driver.store(match.p);
      }
      case WarpOps.ShuffleIndexed shuffle
          when shuffle.isBroadcast(slot -> registers.isUniform(index, slot)) ->
          broadcast(index, shuffle);
      default -> {
        warp();
        driver.constant(op);
        driver.code().loadConstant(registers.reads(index)).loadConstant(registers.writes(index));
        driver
            .code()
            .invokevirtual(
                WARP, "converge", MethodTypeDesc.of(CD_void, DriverEmitter.OP, CD_int, CD_int));
      }
    }
  }

  private boolean knows(int index, int slot) {
    return registers.isUniform(index, slot) || registers.isColumn(index, slot);
  }

  /** Lanes that went away have to come first. */
  private void gather(int index, ConvergenceOp op) {
    CodeBuilder c = driver.code();
    Label here = c.newLabel();
    Label gone = c.newLabel();
    warp().getfield(WARP, "away", CD_int).ifeq(here);
    warp().loadConstant(registers.before(index));
    driver.constant(op);
    c.invokevirtual(WARP, "gather", MethodTypeDesc.of(CD_boolean, CD_int, DriverEmitter.OP));
    c.ifeq(gone);
    c.labelBinding(here);
    driver.later(
        () -> {
          c.labelBinding(gone);
          c.loadConstant(WarpCode.LEFT).ireturn();
        });
  }

  /** Diverges unless the mask names all. False when there is nothing more to write. */
  private boolean requireAll(int index, int mask) {
    CodeBuilder c = driver.code();
    if (!knows(index, mask)) {
      c.goto_(driver.diverge(registers.before(index)));
      return false;
    }
    warp();
    if (registers.isUniform(index, mask)) {
      driver.load(mask);
      c.l2i().invokevirtual(WARP, "areAll", MethodTypeDesc.of(CD_boolean, CD_int));
    } else {
      column(index, mask);
      c.invokevirtual(WARP, "areAllIn", MethodTypeDesc.of(CD_boolean, CD_int));
    }
    c.ifeq(driver.diverge(registers.before(index)));
    return true;
  }

  private void column(int index, int slot) {
    driver.code().loadConstant(registers.location(registers.webBefore(index, slot)));
  }

  private void lanes() {
    warp().getfield(WARP, "live", CD_int).i2l().loadConstant(ALL).land();
  }

  private void vote(int index, WarpOps.Vote op) {
    CodeBuilder c = driver.code();
    warp();
    warp();
    if (registers.isUniform(index, op.a)) {
      driver.load(op.a);
      c.invokevirtual(WARP, "ballotOfAll", MethodTypeDesc.of(CD_int, CD_long));
    } else {
      column(index, op.a);
      c.invokevirtual(WARP, "ballot", MethodTypeDesc.of(CD_int, CD_int));
    }
    if (op.negated) {
      warp().getfield(WARP, "live", CD_int).ixor();
    }
    String method =
        switch (op.mode) {
          case "all" -> "voteAll";
          case "any" -> "voteAny";
          case "uni" -> "voteUni";
          default -> "voteBallot";
        };
    c.invokevirtual(WARP, method, MethodTypeDesc.of(CD_long, CD_int));
    driver.store(op.d);
  }

  private void broadcast(int index, WarpOps.ShuffleIndexed op) {
    CodeBuilder c = driver.code();
    if (registers.isColumn(index, op.a)) {
      warp();
      driver.load(op.b);
      c.invokevirtual(WARP, "hasLane", MethodTypeDesc.of(CD_boolean, CD_long));
      c.ifeq(driver.diverge(registers.before(index)));
      warp();
      column(index, op.a);
      driver.load(op.b);
      c.invokevirtual(WARP, "laneOf", MethodTypeDesc.of(CD_long, CD_int, CD_long));
    } else {
      driver.load(op.a);
      c.loadConstant(ALL).land();
    }
    driver.store(op.d);
    c.lconst_1();
    driver.store(op.p);
  }
}
