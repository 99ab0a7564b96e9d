# The environment in which Anima runs: sourced by ./anima, make and CI (sh, bash). Needs ANIMA_ROOT, the checkout's root.
# What is already set wins, so every line can be overridden from outside.

VIRTUAL_ENV="${ANIMA_VENV:-$ANIMA_ROOT/.venv}"
case ":$PATH:" in *":$VIRTUAL_ENV/bin:"*) ;; *) PATH="$VIRTUAL_ENV/bin:$PATH" ;; esac
export ANIMA_ROOT VIRTUAL_ENV PATH

# Library and package paths of ROS 2 and the built workspace, computed by the set-up: sourcing colcon's own scripts
# takes longer than the command that they are sourced for.
if [ -r "$VIRTUAL_ENV/anima-ros-env.sh" ]; then . "$VIRTUAL_ENV/anima-ros-env.sh"; fi

export ROS_DOMAIN_ID="${ROS_DOMAIN_ID:-0}"
# Nothing leaves the machine unless its owner says so (SUBNET).
export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"
export RMW_IMPLEMENTATION="${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"
# Without the check a field of the wrong type is sent as garbage instead of raising.
export ROS_PYTHON_CHECK_FIELDS="${ROS_PYTHON_CHECK_FIELDS:-1}"
# OpenMP's busy wait starves the other processes of a small machine.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
# OpenBLAS's threads spin too; our matrices are small, and one thread is many times faster than two on busy cores.
export OPENBLAS_NUM_THREADS="${OPENBLAS_NUM_THREADS:-1}"
export MUJOCO_GL="${MUJOCO_GL:-egl}"
export CCACHE_DIR="${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/anima/ccache}"
export COLCON_DEFAULTS_FILE="${COLCON_DEFAULTS_FILE:-$ANIMA_ROOT/ros2_ws/colcon.yaml}"
export FASTDDS_DEFAULT_PROFILES_FILE="${FASTDDS_DEFAULT_PROFILES_FILE:-$ANIMA_ROOT/config/fastdds.xml}"
# Its name until Jazzy; later releases warn of it.
case "${ROS_DISTRO:-}" in
    humble | iron | jazzy) export FASTRTPS_DEFAULT_PROFILES_FILE="${FASTRTPS_DEFAULT_PROFILES_FILE:-$FASTDDS_DEFAULT_PROFILES_FILE}" ;;
esac
