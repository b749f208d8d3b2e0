/**
 * A GPU as the NIC of another one: pull against push over the link between them, with real
 * doorbells, WQEs, CQEs and credits, on two GPUs of one host or on two of the PTX virtual machine.
 */
@NullMarked
package dev.doorbell.experiments.scenario.nic;

import org.jspecify.annotations.NullMarked;
