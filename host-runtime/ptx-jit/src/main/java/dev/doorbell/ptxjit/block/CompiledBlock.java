package dev.doorbell.ptxjit.block;

import dev.doorbell.ptxvm.engine.machine.Op;

/** The operations of a block as code; generated classes extend it. */
public abstract class CompiledBlock extends Op {}
