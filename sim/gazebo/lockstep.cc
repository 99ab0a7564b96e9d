// A world plugin for Gazebo 11 that puts the world under the command of one client: it stands still until told to step.
//
// The client connects to the UNIX socket in ANIMA_LOCKSTEP_SOCKET and sends lines of words; it is served in the thread of
// the physics, between two updates, so that no reading can race with a step. Everything is generic: joints, models, links
// and cameras are called by their names in the world file. When the client goes, the server ends.
//
// Without an answer (a fault is told by the next answer):
//   servo JOINT FMAX GAIN VMAX     drives a joint to a position: speed is GAIN times the error, at most VMAX
//   motor JOINT FMAX               drives a joint at a speed
//   set JOINT VALUE                where to, or how fast (rad, rad/s)
//   limit JOINT FMAX               the most force from now on (N m)
//   angle JOINT RAD                puts a joint there at once
//   pose MODEL X Y Z YAW           puts a model there at once, at rest
//   friction COLLISION MU          changes a surface's grip; COLLISION is model::link::collision
//   beams NAME LINK NEAR FAR X Y Z DX DY DZ ...   declares beams that start at one point of a link
// With an answer of one line of JSON:
//   state                          poses, speeds, joints, and what touched since the last answer
//   step N                         N updates, then as state
//   cast NAME                      lengths of the declared beams, null nothing hit; they pass through the link's own model,
//                                  and "own" has the indices of those that did
//   see CAMERA                     {"width", "height", "bytes"}, and then so many raw bytes: rgb8 or 32-bit floats (metres)

#include <gazebo/common/Events.hh>
#include <gazebo/common/Plugin.hh>
#include <gazebo/physics/physics.hh>
#include <ignition/math/Rand.hh>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pictures.hh"

namespace anima {

using namespace gazebo;
using ignition::math::Quaterniond;
using ignition::math::Vector3d;

struct Drive {
  physics::JointPtr joint;
  bool servo = false;
  double force = 0.0, gain = 0.0, fastest = 0.0, target = 0.0;
};

struct Beams {
  physics::LinkPtr link;
  double near_m = 0.0, far_m = 0.0;
  Vector3d start;
  std::vector<Vector3d> directions;
};

struct Touch {
  double first_s = 0.0, force = 0.0;
  bool still = false;
};

class Lockstep : public WorldPlugin {
 public:
  void Load(physics::WorldPtr world, sdf::ElementPtr) override {
    world_ = world;
    const char *path = std::getenv("ANIMA_LOCKSTEP_SOCKET");
    if (!path) { gzerr << "lockstep: ANIMA_LOCKSTEP_SOCKET is not set\n"; std::_Exit(3); }
    const char *seed = std::getenv("ANIMA_LOCKSTEP_SEED");
    const unsigned number = seed ? std::strtoul(seed, nullptr, 10) : 0;
    ignition::math::Rand::Seed(number);
    world_->Physics()->SetSeed(number);
    world_->Physics()->GetContactManager()->SetNeverDropContacts(true);
    ray_ = boost::dynamic_pointer_cast<physics::RayShape>(
        world_->Physics()->CreateShape("ray", physics::CollisionPtr()));
    pictures_ = std::make_unique<Pictures>(world_);
    for (auto &model : world_->Models())
      for (auto &joint : model->GetJoints()) joint->SetProvideFeedback(true);
    world_->SetPaused(true);  // what draws asks the running world for its contents, so time stands but the loop turns
    Listen(path);
    begin_ = event::Events::ConnectWorldUpdateBegin([this](const common::UpdateInfo &) { Begin(); });
    end_ = event::Events::ConnectWorldUpdateEnd([this] { End(); });
    starter_ = std::thread([this] { Start(); });
    starter_.detach();
  }

 private:
  // -- the connection ------------------------------------------------------------------------------------------------

  void Listen(const char *path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    ::unlink(path);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(listener_, reinterpret_cast<sockaddr *>(&address), sizeof address) || ::listen(listener_, 1)) {
      gzerr << "lockstep: can't listen on " << path << ": " << std::strerror(errno) << "\n";
      std::_Exit(3);
    }
  }

  void Start() {
    client_ = ::accept(listener_, nullptr, nullptr);
    if (client_ < 0) std::_Exit(3);
    for (int waited_ms = 0; !pictures_->Ready(); waited_ms += 10) {
      if (waited_ms > 60000) { gzerr << "lockstep: the scene was not drawn within a minute\n"; std::_Exit(4); }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    world_->Physics()->SetRealTimeUpdateRate(0.0);
    world_->SetPaused(false);
  }

  bool ReadLine(std::string *line) {
    for (;;) {
      const auto end = received_.find('\n');
      if (end != std::string::npos) {
        line->assign(received_, 0, end);
        received_.erase(0, end + 1);
        return true;
      }
      char chunk[65536];
      const ssize_t got = ::read(client_, chunk, sizeof chunk);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      received_.append(chunk, got);
    }
  }

  void Send(const std::string &data) {
    for (size_t sent = 0; sent < data.size();) {
      const ssize_t wrote = ::send(client_, data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) std::_Exit(0);
      sent += wrote;
    }
  }

  // -- physics thread ------------------------------------------------------------------------------------------------

  void Begin() {
    if (remaining_ == 0 && answer_due_) Send(State());
    answer_due_ = false;
    while (remaining_ == 0) {
      std::string line;
      if (!ReadLine(&line)) std::_Exit(0);
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      Obey(verb, words);
    }
    --remaining_;
    answer_due_ = true;
    for (auto &entry : drives_) {
      Drive &drive = entry.second;
      double speed = drive.target;
      if (drive.servo) {
        const double wanted = drive.gain * (drive.target - drive.joint->Position(0));
        speed = std::max(-drive.fastest, std::min(drive.fastest, wanted));
      }
      drive.joint->SetParam("fmax", 0, drive.force);
      drive.joint->SetParam("vel", 0, speed);
    }
  }

  void End() {
    ++updates_;
    auto *contacts = world_->Physics()->GetContactManager();
    for (auto &entry : touches_) entry.second.still = false;
    for (unsigned i = 0; i < contacts->GetContactCount(); ++i) {
      const auto *contact = contacts->GetContact(i);
      if (!contact->collision1 || !contact->collision2 || contact->count == 0) continue;
      double force = 0.0;
      const auto turn = contact->collision1->GetLink()->WorldPose().Rot();
      for (int k = 0; k < contact->count; ++k)
        force += std::abs(turn.RotateVector(contact->wrench[k].body1Force).Dot(contact->normals[k]));
      auto key = std::make_pair(contact->collision1->GetName(), contact->collision2->GetName());
      if (key.second < key.first) std::swap(key.first, key.second);
      auto found = touches_.emplace(key, Touch{Now(), 0.0, true}).first;
      found->second.force = std::max(found->second.force, force);
      found->second.still = true;
    }
  }

  double Now() const { return updates_ * world_->Physics()->GetMaxStepSize(); }

  void Obey(const std::string &verb, std::istringstream &words) {
    std::string name;
    if (verb == "step") {
      words >> remaining_;
      if (remaining_ == 0) Send(State());
    } else if (verb == "state") {
      Send(State());
    } else if (verb == "set") {
      double value = 0.0;
      words >> name >> value;
      auto found = drives_.find(name);
      if (found == drives_.end()) return Complain("nothing drives joint " + name);
      found->second.target = value;
    } else if (verb == "cast") {
      words >> name;
      Send(Cast(name));
    } else if (verb == "see") {
      words >> name;
      See(name);
    } else if (verb == "servo" || verb == "motor") {
      Drive drive;
      words >> name >> drive.force;
      drive.servo = verb == "servo";
      if (drive.servo) words >> drive.gain >> drive.fastest;
      drive.joint = Joint(name);
      if (!drive.joint) return Complain("no joint " + name);
      drive.target = drive.servo ? drive.joint->Position(0) : 0.0;
      drives_[name] = drive;
    } else if (verb == "limit") {
      auto found = drives_.find((words >> name, name));
      if (found == drives_.end()) return Complain("nothing drives joint " + name);
      words >> found->second.force;
    } else if (verb == "angle") {
      double angle = 0.0;
      words >> name >> angle;
      auto joint = Joint(name);
      if (!joint) return Complain("no joint " + name);
      joint->SetPosition(0, angle);
    } else if (verb == "pose") {
      double x = 0, y = 0, z = 0, yaw = 0;
      words >> name >> x >> y >> z >> yaw;
      auto model = world_->ModelByName(name);
      if (!model) return Complain("no model " + name);
      model->ResetPhysicsStates();
      model->SetWorldPose({x, y, z, 0, 0, yaw});
    } else if (verb == "friction") {
      double mu = 0.0;
      words >> name >> mu;
      auto collision = boost::dynamic_pointer_cast<physics::Collision>(world_->EntityByName(name));
      if (!collision) return Complain("no collision " + name);
      collision->GetSurface()->FrictionPyramid()->SetMuPrimary(mu);
      collision->GetSurface()->FrictionPyramid()->SetMuSecondary(mu);
    } else if (verb == "beams") {
      Declare(words);
    } else {
      Complain("unknown word " + verb);
    }
  }

  void Declare(std::istringstream &words) {
    std::string name, link;
    Beams beams;
    words >> name >> link >> beams.near_m >> beams.far_m >> beams.start;
    beams.link = boost::dynamic_pointer_cast<physics::Link>(world_->EntityByName(link));
    if (!beams.link) return Complain("no link " + link);
    for (Vector3d direction; words >> direction;) beams.directions.push_back(direction);
    beams_[name] = beams;
  }

  physics::JointPtr Joint(const std::string &scoped) {
    const auto colons = scoped.find("::");
    auto model = world_->ModelByName(scoped.substr(0, colons));
    return model && colons != std::string::npos ? model->GetJoint(scoped.substr(colons + 2)) : nullptr;
  }

  void Complain(const std::string &text) { complaint_ += (complaint_.empty() ? "" : "; ") + text; }

  std::string Finished(std::ostringstream &out) {
    if (!complaint_.empty()) out << ",\"error\":\"" << complaint_ << "\"";
    complaint_.clear();
    out << "}\n";
    return out.str();
  }

  std::string State() {
    std::ostringstream out;
    out.precision(17);
    out << "{\"time\":" << Now() << ",\"models\":{";
    const char *comma = "";
    for (auto &model : world_->Models()) {
      if (model->IsStatic()) continue;
      const auto pose = model->WorldPose();
      const auto link = model->GetLink();
      const auto speed = link->WorldLinearVel(), turn = link->WorldAngularVel();
      out << comma << "\"" << model->GetName() << "\":[" << pose.Pos().X() << "," << pose.Pos().Y() << "," << pose.Pos().Z()
          << "," << pose.Rot().W() << "," << pose.Rot().X() << "," << pose.Rot().Y() << "," << pose.Rot().Z();
      for (const auto &v : {speed, turn}) out << "," << v.X() << "," << v.Y() << "," << v.Z();
      out << "]";
      comma = ",";
    }
    out << "},\"joints\":{";
    comma = "";
    for (auto &entry : drives_) {
      const auto &joint = entry.second.joint;
      const double effort = -joint->GetForceTorque(0u).body2Torque.Dot(joint->LocalAxis(0));
      out << comma << "\"" << entry.first << "\":[" << joint->Position(0) << "," << joint->GetVelocity(0) << "," << effort << "]";
      comma = ",";
    }
    out << "},\"touches\":[";
    comma = "";
    for (auto &entry : touches_) {
      const Touch &touch = entry.second;
      out << comma << "[\"" << entry.first.first << "\",\"" << entry.first.second << "\"," << touch.force << ","
          << touch.first_s << "," << (touch.still ? "true" : "false") << "]";
      comma = ",";
    }
    touches_.clear();
    out << "]";
    // JSON has no word for it, and a world that has lost its numbers never finds them again.
    if (out.str().find("nan") != std::string::npos) {
      out.str("{\"time\":0");
      out.seekp(0, std::ios::end);
      Complain("the physics broke down: a pose or a force is not a number");
    }
    return Finished(out);
  }

  std::string Cast(const std::string &name) {
    std::ostringstream out;
    out.precision(9);
    out << "{\"ranges\":[";
    std::vector<int> through;
    int index = 0;
    auto found = beams_.find(name);
    if (found == beams_.end()) {
      Complain("no beams " + name);
    } else {
      const Beams &beams = found->second;
      const auto pose = beams.link->WorldPose();
      const auto start = pose.Pos() + pose.Rot().RotateVector(beams.start);
      const auto own = beams.link->GetModel()->GetName() + "::";
      const char *comma = "";
      for (const auto &direction : beams.directions) {
        const auto along = pose.Rot().RotateVector(direction);
        double from = beams.near_m, distance = 0.0;
        std::string hit;
        for (;;) {
          ray_->SetPoints(start + along * from, start + along * beams.far_m);
          ray_->GetIntersection(distance, hit);
          if (hit.compare(0, own.size(), own) != 0) break;
          if (through.empty() || through.back() != index) through.push_back(index);
          from += distance + 1e-4;
          if (from >= beams.far_m) { hit.clear(); break; }
        }
        out << comma;
        if (hit.empty()) out << "null";
        else out << from + distance;
        ++index;
        comma = ",";
      }
    }
    out << "],\"own\":[";
    for (size_t i = 0; i < through.size(); ++i) out << (i ? "," : "") << through[i];
    out << "]";
    return Finished(out);
  }

  void See(const std::string &camera) {
    std::ostringstream out;
    const double step = world_->Physics()->GetMaxStepSize();
    const auto picture = pictures_->Get(camera, updates_ ? common::Time(Now() - 0.5 * step) : common::Time());
    if (!picture.error.empty()) Complain(picture.error);
    out << "{\"width\":" << picture.width << ",\"height\":" << picture.height << ",\"bytes\":" << picture.bytes.size();
    Send(Finished(out) + picture.bytes);
  }

  physics::WorldPtr world_;
  physics::RayShapePtr ray_;
  event::ConnectionPtr begin_, end_;
  std::thread starter_;
  int listener_ = -1, client_ = -1;
  std::string received_, complaint_;
  unsigned remaining_ = 0;
  unsigned long updates_ = 0;
  bool answer_due_ = false;
  std::unique_ptr<Pictures> pictures_;
  std::map<std::string, Drive> drives_;
  std::map<std::string, Beams> beams_;
  std::map<std::pair<std::string, std::string>, Touch> touches_;
};

GZ_REGISTER_WORLD_PLUGIN(Lockstep)

}  // namespace anima
