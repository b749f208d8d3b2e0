/**
 * Firmware commands of mlx5 as bytes: what DEVX hands to the device. Layouts are those of the
 * Programmer's Reference Manual, as Linux's include/linux/mlx5/mlx5_ifc.h has them. Knows no
 * library and no device.
 */
@NullMarked
package dev.doorbell.verbs.prm;

import org.jspecify.annotations.NullMarked;
