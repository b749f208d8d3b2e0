/**
 * One GPU or CPU as its threads share it: the prices of instructions ({@link
 * dev.doorbell.core.fabric.timed.processor.InstructionPrices}), warps and the gates that bound
 * their throughput, the combining of stores into lines and of loads into requests, and accesses
 * under way.
 */
@NullMarked
package dev.doorbell.core.fabric.timed.processor;

import org.jspecify.annotations.NullMarked;
