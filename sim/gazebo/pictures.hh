// Pictures of a Gazebo world's cameras at an exact moment, on demand: asked for in the physics thread, taken in the
// rendering thread while physics stands still.
#pragma once

#include <gazebo/common/Events.hh>
#include <gazebo/physics/physics.hh>
#include <gazebo/rendering/rendering.hh>
#include <gazebo/sensors/sensors.hh>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace anima {

using namespace gazebo;

struct Shot {
  std::string camera, error;
  common::Time not_before;
  unsigned width = 0, height = 0;
  std::string bytes;  // rgb8, or 32-bit floats of a depth camera
  bool wanted = false, done = false;
};

class Pictures {
 public:
  explicit Pictures(physics::WorldPtr world) : world_(world) {
    for (auto &sensor : sensors::SensorManager::Instance()->GetSensors())
      cameras_ |= sensor->Category() == sensors::IMAGE;
    render_ = event::Events::ConnectPostRender([this] { Render(); });
  }

  // Whether everything in the world can be drawn; at once in a world without cameras.
  bool Ready() const { return !cameras_ || drawn_; }

  // The picture of a camera with every pose at least as new as `not_before`.
  Shot Get(const std::string &camera, common::Time not_before) {
    std::unique_lock<std::mutex> lock(mutex_);
    shot_ = Shot();
    shot_.camera = camera;
    shot_.not_before = not_before;
    shot_.wanted = cameras_;
    changed_.notify_all();
    if (!cameras_) shot_.error = "this world has no cameras";
    else if (!changed_.wait_for(lock, std::chrono::seconds(10), [this] { return shot_.done; }))
      shot_.error = "camera " + camera + " gave no picture within 10 s";
    shot_.wanted = false;
    return shot_;
  }

 private:
  void Render() {
    auto scene = rendering::get_scene(world_->Name());
    if (!drawn_) {
      drawn_ = Complete(scene);
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    // The loop around this would turn a thousand times a second for nothing.
    if (!changed_.wait_for(lock, std::chrono::milliseconds(20), [this] { return shot_.wanted; })) return;
    if (scene->SimTime() < shot_.not_before) return;  // its poses aren't here yet; look again
    Take();
    shot_.wanted = false;
    shot_.done = true;
    changed_.notify_all();
  }

  bool Complete(const rendering::ScenePtr &scene) const {
    if (!scene || !scene->Initialized() || scene->LightCount() == 0) return false;
    for (auto &model : world_->Models())
      for (auto &link : model->GetLinks())
        if (!scene->GetVisual(link->GetScopedName())) return false;
    return true;
  }

  void Take() {
    auto sensor = sensors::SensorManager::Instance()->GetSensor(shot_.camera);
    auto depth = std::dynamic_pointer_cast<sensors::DepthCameraSensor>(sensor);
    auto colour = std::dynamic_pointer_cast<sensors::CameraSensor>(sensor);
    rendering::CameraPtr camera;
    if (depth) camera = depth->DepthCamera();
    else if (colour) camera = colour->Camera();
    if (!camera) { shot_.error = "no camera " + shot_.camera; return; }
    camera->SetCaptureData(true);
    camera->Render(true);
    camera->PostRender();
    shot_.width = camera->ImageWidth();
    shot_.height = camera->ImageHeight();
    const size_t pixels = size_t(shot_.width) * shot_.height;
    if (depth) shot_.bytes.assign(reinterpret_cast<const char *>(depth->DepthCamera()->DepthData()), pixels * 4);
    else shot_.bytes.assign(reinterpret_cast<const char *>(camera->ImageData()), pixels * 3);
  }

  physics::WorldPtr world_;
  bool cameras_ = false;
  std::atomic<bool> drawn_{false};
  event::ConnectionPtr render_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Shot shot_;
};

}  // namespace anima
