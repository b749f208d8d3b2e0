/**
 * Kernels that a user brings: found in folders, described by a descriptor, checked, run on their
 * own and listed by a workbench. Knows no back end; the workbench is found as a service.
 */
@NullMarked
package dev.doorbell.experiments.kernels;

import org.jspecify.annotations.NullMarked;
